-- The memory of `migrate`: which files ran, how far, and what they said. Its own row (version 0) is the lock that lets one migration run at a time.
-- No later file may alter this table: the lock's holder keeps its definition in use.
CREATE TABLE IF NOT EXISTS schema_version (
  version INT NOT NULL,
  name VARCHAR(200) NOT NULL,
  -- Of the statements that ran, without comments.
  checksum CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- DDL commits by itself, so a file can stop in the middle; the next run goes on after this many statements.
  statements_done INT NOT NULL,
  -- NULL until the whole file ran.
  applied_at DATETIME(6) NULL,
  PRIMARY KEY (version)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Schema of WorkFlowEngine. Every statement ends with ";" at the end of a line; a comment above a key says why it is there.
-- Names that are compared exactly are VARBINARY: every _bin collation that MySQL and MariaDB share ignores trailing spaces.
-- No AUTO_INCREMENT: ids come from id_block, so a unit of work knows them before it writes.

-- Parent of definitions and consumers. Unique code: import and registration create an unknown environment, and two may do so at once.
CREATE TABLE environment (
  id BIGINT NOT NULL,
  code INT NOT NULL,
  name VARCHAR(120) NOT NULL,
  created DATETIME(6) NOT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY uq_environment_code (code)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Labels of states, shared by all definitions.
CREATE TABLE category (
  id BIGINT NOT NULL,
  name VARCHAR(120) NOT NULL,
  name_key VARBINARY(1440) NOT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY uq_category_name (name_key)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- active_version carries no foreign key: it would close a circle with def_version. The row is locked by imports and activations only.
CREATE TABLE definition (
  id BIGINT NOT NULL,
  env_id BIGINT NOT NULL,
  name VARCHAR(120) NOT NULL,
  name_key VARBINARY(1440) NOT NULL,
  description TEXT NULL,
  active_version BIGINT NULL,
  created DATETIME(6) NOT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY uq_definition_name (env_id, name_key),
  CONSTRAINT fk_definition_env FOREIGN KEY (env_id) REFERENCES environment (id)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Rows never change, so the share lock that a new instance takes on its version disturbs nobody.
CREATE TABLE def_version (
  id BIGINT NOT NULL,
  definition_id BIGINT NOT NULL,
  version INT NOT NULL,
  hash CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  document LONGTEXT NOT NULL,
  created DATETIME(6) NOT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY uq_def_version_version (definition_id, version),
  -- Same content, same version: the second importer of one document must not get a version of its own.
  UNIQUE KEY uq_def_version_hash (definition_id, hash),
  CONSTRAINT fk_def_version_definition FOREIGN KEY (definition_id) REFERENCES definition (id)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE state (
  id BIGINT NOT NULL,
  def_version_id BIGINT NOT NULL,
  category_id BIGINT NULL,
  name VARCHAR(120) NOT NULL,
  name_key VARBINARY(1440) NOT NULL,
  flags INT NOT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY uq_state_name (def_version_id, name_key),
  CONSTRAINT fk_state_def_version FOREIGN KEY (def_version_id) REFERENCES def_version (id),
  CONSTRAINT fk_state_category FOREIGN KEY (category_id) REFERENCES category (id)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE events (
  id BIGINT NOT NULL,
  def_version_id BIGINT NOT NULL,
  code INT NOT NULL,
  name VARCHAR(120) NOT NULL,
  name_key VARBINARY(1440) NOT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY uq_events_code (def_version_id, code),
  UNIQUE KEY uq_events_name (def_version_id, name_key),
  CONSTRAINT fk_events_def_version FOREIGN KEY (def_version_id) REFERENCES def_version (id)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE transition (
  id BIGINT NOT NULL,
  def_version_id BIGINT NOT NULL,
  from_state BIGINT NOT NULL,
  to_state BIGINT NOT NULL,
  event_id BIGINT NOT NULL,
  flags INT NOT NULL,
  PRIMARY KEY (id),
  -- One event leads from a state to one place.
  UNIQUE KEY uq_transition_edge (def_version_id, from_state, event_id),
  CONSTRAINT fk_transition_def_version FOREIGN KEY (def_version_id) REFERENCES def_version (id),
  CONSTRAINT fk_transition_from FOREIGN KEY (from_state) REFERENCES state (id),
  CONSTRAINT fk_transition_to FOREIGN KEY (to_state) REFERENCES state (id),
  CONSTRAINT fk_transition_event FOREIGN KEY (event_id) REFERENCES events (id)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- document is the author's text; resolved is what the engine reads at run time (event names turned into codes). Rows never change.
CREATE TABLE policy (
  id BIGINT NOT NULL,
  definition_id BIGINT NOT NULL,
  name VARCHAR(120) NOT NULL,
  hash CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  document LONGTEXT NOT NULL,
  resolved LONGTEXT NOT NULL,
  warnings LONGTEXT NOT NULL,
  created DATETIME(6) NOT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY uq_policy_hash (definition_id, hash),
  CONSTRAINT fk_policy_definition FOREIGN KEY (definition_id) REFERENCES definition (id)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The link with the highest stamp is the current policy of a version.
CREATE TABLE def_policy (
  def_version_id BIGINT NOT NULL,
  policy_id BIGINT NOT NULL,
  stamp BIGINT NOT NULL,
  created DATETIME(6) NOT NULL,
  PRIMARY KEY (def_version_id, policy_id),
  KEY ix_def_policy_stamp (def_version_id, stamp),
  CONSTRAINT fk_def_policy_version FOREIGN KEY (def_version_id) REFERENCES def_version (id),
  CONSTRAINT fk_def_policy_policy FOREIGN KEY (policy_id) REFERENCES policy (id)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Timeouts as imported: of a version (state-level keys) or of a policy, which overrides them per state.
CREATE TABLE timeouts (
  id BIGINT NOT NULL,
  def_version_id BIGINT NULL,
  policy_id BIGINT NULL,
  state_name VARCHAR(120) NOT NULL,
  state_key VARBINARY(1440) NOT NULL,
  duration INT NOT NULL,
  mode TINYINT NOT NULL,
  event_code INT NULL,
  max_retry INT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY uq_timeouts_version_state (def_version_id, state_key),
  UNIQUE KEY uq_timeouts_policy_state (policy_id, state_key),
  CONSTRAINT fk_timeouts_version FOREIGN KEY (def_version_id) REFERENCES def_version (id),
  CONSTRAINT fk_timeouts_policy FOREIGN KEY (policy_id) REFERENCES policy (id)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The only table whose rows are locked. No foreign key to definition: its row changes at import, and every new instance would wait for that.
-- stay_id is the lifecycle that began the present stay (0: creation); stale_at the next moment an OverDue notice is allowed;
-- state_due_at the earlier of that and the running timeout, state_due_kind which of the two.
CREATE TABLE instance (
  id BIGINT NOT NULL,
  guid CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  definition_id BIGINT NOT NULL,
  def_version_id BIGINT NOT NULL,
  policy_id BIGINT NULL,
  external_ref VARBINARY(800) NOT NULL,
  current_state BIGINT NOT NULL,
  last_event BIGINT NULL,
  flags INT NOT NULL,
  suspended_by TINYINT NULL,
  message VARCHAR(500) NULL,
  seq INT NOT NULL,
  stay_id BIGINT NOT NULL,
  state_entered_at DATETIME(6) NOT NULL,
  stale_at DATETIME(6) NULL,
  state_due_kind TINYINT NULL,
  state_due_at DATETIME(6) NULL,
  created DATETIME(6) NOT NULL,
  modified DATETIME(6) NOT NULL,
  -- The status people see, by precedence Archived, Failed, Suspended, Completed, Active; only to be listed by.
  status TINYINT AS (CASE WHEN flags & 16 THEN 5 WHEN flags & 8 THEN 4 WHEN flags & 2 THEN 2 WHEN flags & 4 THEN 3 ELSE 1 END) VIRTUAL,
  PRIMARY KEY (id),
  UNIQUE KEY uq_instance_guid (guid),
  UNIQUE KEY uq_instance_ref (definition_id, external_ref),
  -- Passes A and C of the monitor: what is due, and only that.
  KEY ix_instance_due (state_due_kind, state_due_at),
  -- Counting suspended instances must not read the others.
  KEY ix_instance_suspended (suspended_by),
  -- Listing: newest first, alone, by state, by status.
  KEY ix_instance_created (created),
  KEY ix_instance_state (definition_id, current_state, created),
  KEY ix_instance_status (definition_id, status, created),
  CONSTRAINT fk_instance_version FOREIGN KEY (def_version_id) REFERENCES def_version (id),
  CONSTRAINT fk_instance_policy FOREIGN KEY (policy_id) REFERENCES policy (id)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE lifecycle (
  id BIGINT NOT NULL,
  instance_id BIGINT NOT NULL,
  seq INT NOT NULL,
  from_state BIGINT NOT NULL,
  to_state BIGINT NOT NULL,
  event_id BIGINT NOT NULL,
  flags INT NOT NULL,
  occurred_at DATETIME(6) NOT NULL,
  created DATETIME(6) NOT NULL,
  PRIMARY KEY (id),
  -- The second of two writers of one step must fail, whatever the code did before.
  UNIQUE KEY uq_lifecycle_seq (instance_id, seq),
  CONSTRAINT fk_lifecycle_instance FOREIGN KEY (instance_id) REFERENCES instance (id)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The foreign key stops a write packet whose compare-and-set changed nothing: the lifecycle row is missing then.
CREATE TABLE lifecycle_data (
  lifecycle_id BIGINT NOT NULL,
  actor VARCHAR(120) NULL,
  request_id VARBINARY(512) NULL,
  payload LONGTEXT NULL,
  PRIMARY KEY (lifecycle_id),
  CONSTRAINT fk_lifecycle_data_lifecycle FOREIGN KEY (lifecycle_id) REFERENCES lifecycle (id)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE hook (
  id BIGINT NOT NULL,
  lifecycle_id BIGINT NOT NULL,
  instance_id BIGINT NOT NULL,
  position INT NOT NULL,
  route VARCHAR(200) NOT NULL,
  label VARCHAR(200) NULL,
  on_entry TINYINT NOT NULL,
  hook_type VARCHAR(20) NULL,
  hook_order INT NULL,
  hook_group VARCHAR(120) NULL,
  ack_mode VARCHAR(20) NULL,
  send VARCHAR(20) NULL,
  not_before VARCHAR(64) NULL,
  deadline VARCHAR(64) NULL,
  on_success INT NULL,
  on_failure INT NULL,
  created DATETIME(6) NOT NULL,
  PRIMARY KEY (id),
  -- A hook is written once per step and place in its rule.
  UNIQUE KEY uq_hook_position (lifecycle_id, position),
  CONSTRAINT fk_hook_lifecycle FOREIGN KEY (lifecycle_id) REFERENCES lifecycle (id)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- body is the event as it is sent, byte for byte, every time.
CREATE TABLE ack (
  id BIGINT NOT NULL,
  guid CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  instance_id BIGINT NOT NULL,
  body LONGTEXT CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  created DATETIME(6) NOT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY uq_ack_guid (guid)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE lc_ack (
  lifecycle_id BIGINT NOT NULL,
  ack_id BIGINT NOT NULL,
  PRIMARY KEY (lifecycle_id),
  -- From an ack back to its step (timeline, why).
  UNIQUE KEY uq_lc_ack_ack (ack_id),
  CONSTRAINT fk_lc_ack_lifecycle FOREIGN KEY (lifecycle_id) REFERENCES lifecycle (id),
  CONSTRAINT fk_lc_ack_ack FOREIGN KEY (ack_id) REFERENCES ack (id)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE hook_ack (
  hook_id BIGINT NOT NULL,
  ack_id BIGINT NOT NULL,
  PRIMARY KEY (hook_id),
  UNIQUE KEY uq_hook_ack_ack (ack_id),
  CONSTRAINT fk_hook_ack_hook FOREIGN KEY (hook_id) REFERENCES hook (id),
  CONSTRAINT fk_hook_ack_ack FOREIGN KEY (ack_id) REFERENCES ack (id)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- status: 0 held, 1 pending, 2 delivered, 3 processed, 4 failed, 5 parked, 6 suspending. trigger_count = attempts of the present stage.
-- No foreign key to consumer: each trigger would share-lock the row that a heartbeat updates.
CREATE TABLE ack_consumer (
  ack_id BIGINT NOT NULL,
  consumer_id BIGINT NOT NULL,
  instance_id BIGINT NOT NULL,
  seq INT NOT NULL,
  kind TINYINT NOT NULL,
  status TINYINT NOT NULL,
  next_due DATETIME(6) NULL,
  trigger_count INT NOT NULL,
  sends INT NOT NULL,
  retry_count INT NOT NULL,
  last_retry DATETIME(6) NULL,
  first_sent_at DATETIME(6) NULL,
  delivered_at DATETIME(6) NULL,
  processed_at DATETIME(6) NULL,
  message VARCHAR(500) NULL,
  gave_up TINYINT NULL,
  created DATETIME(6) NOT NULL,
  modified DATETIME(6) NOT NULL,
  PRIMARY KEY (ack_id, consumer_id),
  -- Pass B reads one consumer's due rows, oldest first; rows without next_due lie at the index's other end.
  KEY ix_ack_consumer_due (consumer_id, next_due),
  -- Lanes: what blocks, what is held, lowest seq first; leading instance also serves suspension, why and OverDue.
  KEY ix_ack_consumer_lane (instance_id, status, consumer_id, seq),
  CONSTRAINT fk_ack_consumer_ack FOREIGN KEY (ack_id) REFERENCES ack (id)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- deleted_id is 0 while the consumer exists and its own id afterwards, so the name can be registered again.
-- closed_ack_id is how far the monitor has closed a deleted consumer's rows; NULL when nothing is left to close.
CREATE TABLE consumer (
  id BIGINT NOT NULL,
  env_id BIGINT NOT NULL,
  consumer_guid VARBINARY(480) NOT NULL,
  deleted_id BIGINT NOT NULL,
  owner VARBINARY(1024) NOT NULL,
  principals TEXT NOT NULL,
  kinds INT NOT NULL,
  definitions TEXT NOT NULL,
  routes TEXT NULL,
  beat_seconds INT NULL,
  is_always_live TINYINT NOT NULL,
  on_exhausted TINYINT NOT NULL,
  endpoint_protocol VARCHAR(20) NULL,
  endpoint_address VARCHAR(2048) NULL,
  endpoint_hash CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL,
  subscription_arn VARCHAR(300) NULL,
  last_beat DATETIME(6) NOT NULL,
  progress TEXT NULL,
  down_noticed_at DATETIME(6) NULL,
  closed_ack_id BIGINT NULL,
  created DATETIME(6) NOT NULL,
  modified DATETIME(6) NOT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY uq_consumer_guid (env_id, consumer_guid, deleted_id),
  -- An endpoint belongs to one consumer: SNS keeps one filter per endpoint.
  UNIQUE KEY uq_consumer_endpoint (endpoint_hash),
  CONSTRAINT fk_consumer_env FOREIGN KEY (env_id) REFERENCES environment (id)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Which definitions a consumer listens to, by name key or "*": a trigger finds its consumers here. Deleting a consumer deletes its rows.
CREATE TABLE subscription (
  env_id BIGINT NOT NULL,
  definition_key VARBINARY(1440) NOT NULL,
  consumer_id BIGINT NOT NULL,
  PRIMARY KEY (env_id, definition_key, consumer_id),
  -- Registering again replaces the rows of one consumer.
  KEY ix_subscription_consumer (consumer_id)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- One row a firing; the primary key makes a second firing of the same number impossible.
CREATE TABLE lc_timeout (
  instance_id BIGINT NOT NULL,
  stay_id BIGINT NOT NULL,
  n INT NOT NULL,
  lifecycle_id BIGINT NULL,
  created DATETIME(6) NOT NULL,
  PRIMARY KEY (instance_id, stay_id, n)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- What applications say of their own work. No foreign key to instance: a report must never make a trigger wait.
CREATE TABLE runtime (
  id BIGINT NOT NULL,
  instance_id BIGINT NOT NULL,
  lifecycle_id BIGINT NOT NULL,
  state_id BIGINT NOT NULL,
  activity VARCHAR(120) NOT NULL,
  activity_key VARBINARY(1440) NOT NULL,
  actor VARBINARY(480) NOT NULL,
  status VARCHAR(60) NOT NULL,
  data LONGTEXT NULL,
  is_frozen TINYINT NOT NULL,
  created DATETIME(6) NOT NULL,
  modified DATETIME(6) NOT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY uq_runtime_key (instance_id, lifecycle_id, state_id, activity_key, actor)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The first answer to a request, for the life of the instance. unit_id tells a unit of work its own row from another's.
CREATE TABLE request_log (
  instance_id BIGINT NOT NULL,
  request_id VARBINARY(512) NOT NULL,
  unit_id BIGINT NOT NULL,
  fingerprint CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  answer LONGTEXT NOT NULL,
  created DATETIME(6) NOT NULL,
  PRIMARY KEY (instance_id, request_id),
  CONSTRAINT fk_request_log_instance FOREIGN KEY (instance_id) REFERENCES instance (id)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- A memory of what was said, deleted after its time. No foreign keys: a notice may speak of what is not there.
CREATE TABLE notice (
  id BIGINT NOT NULL,
  code VARCHAR(40) NOT NULL,
  kind VARCHAR(20) NOT NULL,
  env_code INT NULL,
  instance_id BIGINT NULL,
  instance_guid CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NULL,
  external_ref VARBINARY(800) NULL,
  consumer_id BIGINT NULL,
  consumer VARBINARY(480) NULL,
  ack_guid CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NULL,
  occurred_at DATETIME(6) NOT NULL,
  data LONGTEXT NOT NULL,
  PRIMARY KEY (id),
  -- Newest first over all, which is also how old ones are found to be deleted.
  KEY ix_notice_time (occurred_at),
  KEY ix_notice_instance (instance_guid, occurred_at),
  KEY ix_notice_code (code, occurred_at),
  KEY ix_notice_env (env_code, occurred_at)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE admin_audit (
  id BIGINT NOT NULL,
  action VARCHAR(40) NOT NULL,
  actor VARCHAR(600) NOT NULL,
  reason VARCHAR(500) NOT NULL,
  env_code INT NULL,
  target VARCHAR(300) NOT NULL,
  data LONGTEXT NOT NULL,
  created DATETIME(6) NOT NULL,
  PRIMARY KEY (id),
  KEY ix_admin_audit_target (target, created)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE monitor_lease (
  name VARCHAR(40) NOT NULL,
  owner VARCHAR(80) NULL,
  expires_at DATETIME(6) NOT NULL,
  last_pass_at DATETIME(6) NULL,
  PRIMARY KEY (name)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE id_block (
  name VARCHAR(40) NOT NULL,
  next_id BIGINT NOT NULL,
  PRIMARY KEY (name)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

INSERT INTO id_block (name, next_id) VALUES ('ids', 1);

INSERT INTO monitor_lease (name, owner, expires_at, last_pass_at) VALUES ('monitor', NULL, '2000-01-01 00:00:00', NULL);

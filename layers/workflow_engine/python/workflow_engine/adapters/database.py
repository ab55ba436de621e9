"""Where the database is and how to log in: an address with a password, IAM, or a rotating secret."""

import ssl
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from workflow_engine.adapters.secrets import TimedCache, database_token, secret_cache
from workflow_engine.dal import DatabaseTarget

_DEFAULT_PORT = 3306
_RDS_BUNDLE = Path(__file__).with_name("rds-ca.pem")


def verified_tls(bundle: Path = _RDS_BUNDLE) -> ssl.SSLContext:
    """Check certificate and host name, against the RDS authorities and the system's roots."""
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_verify_locations(cafile=bundle)
    return context


def url_target(url: str) -> DatabaseTarget:
    """`mysql://user:password@host:port/name`, for a local server; `?tls=1` asks for verified TLS."""
    parts = urlsplit(url)
    if parts.scheme != "mysql" or not parts.hostname or not parts.username:
        raise ValueError("a database address looks like mysql://user:password@host:port/name")
    user, password = unquote(parts.username), unquote(parts.password or "")
    return DatabaseTarget(
        host=parts.hostname,
        port=parts.port or _DEFAULT_PORT,
        database=unquote(parts.path.strip("/")) or None,
        user=lambda _fresh: user,
        password=lambda _fresh: password,
        ssl_context=verified_tls() if parse_qs(parts.query).get("tls") == ["1"] else None,
    )


def iam_target(host: str, port: int, database: str, user: str) -> DatabaseTarget:
    """Log in with a token that IAM signs."""
    tokens = TimedCache(lambda: database_token(host, port, user))
    return DatabaseTarget(
        host=host,
        port=port,
        database=database,
        user=lambda _fresh: user,
        password=lambda fresh: tokens.get(fresh=fresh),
        ssl_context=verified_tls(),
    )


def secret_target(host: str, port: int, database: str, secret_arn: str) -> DatabaseTarget:
    """Log in with the secret's username and password; the user is asked first, so both come from the same reading."""
    secret = secret_cache(secret_arn)
    return DatabaseTarget(
        host=host,
        port=port,
        database=database,
        user=lambda fresh: str(secret.get(fresh=fresh)["username"]),
        password=lambda _fresh: str(secret.get()["password"]),
        ssl_context=verified_tls(),
    )

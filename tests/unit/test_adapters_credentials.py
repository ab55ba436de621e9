"""Logins: signing keys, secrets, tokens and TLS."""

import json
import ssl
from base64 import b64decode, b64encode
from datetime import timedelta
from hashlib import sha256
from hmac import digest

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.support.cloud import client, cloud
from workflow_engine.adapters import database
from workflow_engine.adapters.clock import SystemClock
from workflow_engine.adapters.database import iam_target, secret_target, url_target, verified_tls
from workflow_engine.adapters.secrets import TimedCache, read_secret
from workflow_engine.adapters.signing import Signer, masters_of
from workflow_engine.dal import DatabaseTarget
from workflow_engine.errors import StorageError


def login(target: DatabaseTarget, *, fresh: bool = False) -> tuple[str, str]:
    return target.user(fresh), target.password(fresh)


def test_every_consumer_has_a_key_of_its_own_and_masters_sign_side_by_side():
    both, before = Signer(lambda: ["new", "old"]), Signer(lambda: ["old"])
    assert both.signing_key(1) != both.signing_key(2)
    assert both.signing_key(1).startswith("whsec_")
    signatures = both.sign(1, "id", 1700000000, "body").split(" ")
    assert signatures[1] == before.sign(1, "id", 1700000000, "body")
    key = b64decode(both.signing_key(1).removeprefix("whsec_"))
    assert signatures[0] == "v1," + b64encode(digest(key, b"id.1700000000.body", sha256)).decode()


@pytest.mark.parametrize(
    ("secret", "masters"), [({"current": "a"}, ["a"]), ({"current": "a", "previous": "b", "other": "c"}, ["a", "b"]), ({"current": "a", "previous": ""}, ["a"])]
)
def test_masters_are_current_and_previous(secret, masters):
    assert masters_of(secret) == masters


@pytest.mark.parametrize("secret", [{}, {"previous": "b"}, {"current": ""}])
def test_without_a_current_master_nothing_is_signed(secret):
    with pytest.raises(StorageError, match="current"):
        masters_of(secret)


class Source:
    """A secret that changes with every reading, until it is away."""

    def __init__(self) -> None:
        self.now, self.readings, self.is_away = 0.0, 0, False

    def read(self) -> int:
        if self.is_away:
            raise StorageError("away")
        self.readings += 1
        return self.readings

    def time(self) -> float:
        return self.now


def test_a_secret_is_read_once_in_ten_minutes_and_anew_on_demand():
    source = Source()
    cache = TimedCache(source.read, source.time)
    assert (cache.get(), cache.get(), cache.get(fresh=True), cache.get()) == (1, 1, 2, 2)
    source.now = 599.9
    assert cache.get() == 2
    source.now = 600.0
    assert cache.get() == 3


def test_an_old_secret_serves_while_the_source_is_away_but_not_when_it_was_refused():
    source = Source()
    cache = TimedCache(source.read, source.time)
    cache.get()
    source.now, source.is_away = 1000.0, True
    assert cache.get() == 1
    with pytest.raises(StorageError):
        cache.get(fresh=True)


def test_a_rotated_secret_is_read_again_when_the_login_was_refused(monkeypatch):
    with cloud(monkeypatch):
        secrets = client("secretsmanager")
        arn = secrets.create_secret(Name="db", SecretString=json.dumps({"username": "u1", "password": "p1"}))["ARN"]
        target = secret_target("db.example.org", 3306, "wfe", arn)
        assert login(target) == ("u1", "p1")
        secrets.put_secret_value(SecretId=arn, SecretString=json.dumps({"username": "u2", "password": "p2"}))
        assert login(target) == ("u1", "p1")
        assert login(target, fresh=True) == ("u2", "p2")


@pytest.mark.parametrize("text", ["hunter2", "[1]", '"hunter2"'])
def test_a_secret_of_another_shape_is_refused_without_quoting_it(monkeypatch, text):
    with cloud(monkeypatch):
        arn = client("secretsmanager").create_secret(Name="s", SecretString=text)["ARN"]
        with pytest.raises(StorageError) as caught:
            read_secret(arn)
    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_missing_secret_is_a_reason_to_try_again(monkeypatch):
    with cloud(monkeypatch), pytest.raises(StorageError, match="ResourceNotFoundException"):
        read_secret("arn:aws:secretsmanager:eu-central-1:123456789012:secret:none-123456")


def test_an_iam_login_is_a_signed_token_for_host_and_user(monkeypatch):
    with cloud(monkeypatch):
        target = iam_target("db.example.org", 3307, "wfe", "engine")
        user, token = login(target)
        assert token.startswith("db.example.org:3307/?Action=connect&DBUser=engine&")
        assert login(target) == ("engine", token)
    assert user == "engine"


def test_a_url_says_everything_and_asks_for_tls_only_on_demand():
    target = url_target("mysql://us%40er:p%2Fw@127.0.0.1:3310/wfe")
    assert (target.host, target.port, target.database, login(target), target.ssl_context) == ("127.0.0.1", 3310, "wfe", ("us@er", "p/w"), None)
    assert url_target("mysql://u@h/wfe?tls=1").ssl_context is not None
    assert url_target("mysql://u@h/wfe").port == 3306


@pytest.mark.parametrize("url", ["postgres://u:p@h/x", "mysql://h/x", "nonsense"])
def test_another_address_is_refused_without_repeating_it(url):
    with pytest.raises(ValueError, match="looks like") as caught:
        url_target(url)
    assert url not in str(caught.value)


def test_tls_checks_certificate_and_host_name_against_the_rds_authorities():
    context = verified_tls()
    assert (context.check_hostname, context.verify_mode, context.minimum_version) == (True, ssl.CERT_REQUIRED, ssl.TLSVersion.TLSv1_2)
    names = {dict(part[0] for part in authority["subject"]).get("organizationName", "") for authority in context.get_ca_certs()}
    assert "Amazon Web Services, Inc." in names


def test_every_login_in_aws_uses_verified_tls(monkeypatch):
    with cloud(monkeypatch):
        for target in (iam_target("h", 1, "d", "u"), secret_target("h", 1, "d", "arn:x")):
            assert target.ssl_context is not None
            assert target.ssl_context.verify_mode is ssl.CERT_REQUIRED


def test_a_server_with_a_certificate_of_its_own_is_refused(tmp_path):
    certificate = self_signed(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with pytest.raises(ssl.SSLCertVerificationError):
        shake_hands(verified_tls().wrap_bio, context.wrap_bio)


def shake_hands(client_of, server_of) -> None:
    """Run both ends of a TLS handshake in memory."""
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = client_of(to_client, to_server, server_hostname="db.example.org")
    server = server_of(to_server, to_client, server_side=True)
    for _ in range(4):
        for end in (client, server):
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue


def self_signed(folder) -> str:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "db.example.org")])
    now = SystemClock().now()
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now - timedelta(days=1), now + timedelta(days=1))
    certificate = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName("db.example.org")]), critical=False).sign(key, hashes.SHA256())
    file = folder / "server.pem"
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    return str(file)


def test_the_bundle_lies_in_the_layer():
    assert database._RDS_BUNDLE.is_file()


def test_the_clock_is_real_until_a_local_stack_moves_it():
    clock = SystemClock()
    assert abs(clock.now() - clock.real_now()) < timedelta(seconds=1)
    clock.advance(3600)
    assert timedelta(minutes=59) < clock.now() - clock.real_now() < timedelta(minutes=61)
    assert clock.now().utcoffset() == timedelta(0)

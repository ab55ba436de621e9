"""The certificate authorities of RDS that come with the engine."""

import hashlib
import re
import ssl

from tests.template.cloudformation import ROOT

BUNDLE = ROOT / "layers" / "workflow_engine" / "python" / "workflow_engine" / "adapters" / "rds-ca.pem"
DECISION = ROOT / "docs" / "adr" / "0010-rds-certificates.md"
CERTIFICATES = 115


def test_the_bundle_is_the_one_whose_origin_is_written_down():
    assert hashlib.sha256(BUNDLE.read_bytes()).hexdigest() in DECISION.read_text()


def test_every_certificate_of_the_bundle_is_an_authority_that_python_loads():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cafile=BUNDLE)
    assert context.cert_store_stats() == {"x509": CERTIFICATES, "crl": 0, "x509_ca": CERTIFICATES}


def test_the_bundle_holds_the_three_present_authorities_of_every_region_it_names():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cafile=BUNDLE)
    names = [dict(part[0] for part in authority["subject"])["commonName"] for authority in context.get_ca_certs()]
    present = [found.groups() for name in names if (found := re.fullmatch(r"Amazon RDS (\S+-\d) Root CA (RSA2048|RSA4096|ECC384) G1", name))]
    regions = {region for region, _ in present}
    assert {"eu-central-1", "us-east-1", "ap-southeast-2"} < regions
    assert sorted(present) == sorted((region, kind) for region in regions for kind in ("RSA2048", "RSA4096", "ECC384"))

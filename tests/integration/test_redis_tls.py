"""Hints over TLS. The Redis that Modescope brings along cannot speak it: this needs the system's own.

Debian's redis-tools is enough: its redis-check-rdb is the server under another name, and no service starts.
"""

from __future__ import annotations

import datetime
import ipaddress
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from redis.exceptions import ConnectionError as NoConnection

from orchestrator import queue, rights
from orchestrator.contracts import tasks
from orchestrator.embedded.children import Child, Part, Role, end
from orchestrator.store.ports import Offer
from tests.integration.rights_servers import ROOT, Site, free_port, listens

ONE_JOB = f"""
import os, signal, sys
from orchestrator import queue
app = queue.celery_app(sys.argv[1])
@app.task(name="{tasks.RUN_JOB}")
def take(job_id):
    os.kill(os.getpid(), signal.SIGKILL)
queue.work(app, "{tasks.node_queue("m01")}", name="agent@m01", chores={{}})
"""


@pytest.fixture
def over_tls(tmp_path: Path, require_program: Callable[[str], Path]) -> Iterator[Site]:
    """Redis as deploy/redis-tls.conf has it, but for its folder and port."""
    program = shutil.which("redis-server")
    if program is None or not _speaks_tls(program):
        program = str(tmp_path / "redis-server")
        Path(program).symlink_to(require_program("redis-check-rdb"))
    port = free_port()
    _certificate(tmp_path)
    options = f"?ssl_cert_reqs=required&ssl_ca_certs={tmp_path}/redis.crt"
    rights.write(
        tmp_path,
        ["m01", "m02"],
        database_url="postgresql://127.0.0.1/modescope",
        redis_url=f"rediss://127.0.0.1:{port}/0{options}",
    )
    for name in ("redis.conf", "redis-tls.conf"):
        text = (ROOT / "deploy" / name).read_text().replace("/etc/redis", str(tmp_path))
        (tmp_path / name).write_text(text.replace("bind 0.0.0.0 -::*", "bind 127.0.0.1"))
    words = (program, str(tmp_path / "redis-tls.conf"), "--tls-port", str(port), "--dir", str(tmp_path))
    child = Child(Part(role=Role.REDIS, name="redis", command=words, log=tmp_path / "redis.log"))
    try:
        child.wait_until(lambda: listens(port))
        yield Site(folder=tmp_path, owner_url="", secrets=tmp_path)
    finally:
        end([child])


def _speaks_tls(program: str) -> bool:
    asked = subprocess.run([program, "--tls-port", "0", "--port", "x"], capture_output=True, text=True, check=False)
    return "tls-port" not in asked.stderr + asked.stdout


def _certificate(folder: Path) -> None:
    """Signed by itself, for this machine and this hour."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "redis")])
    now = datetime.datetime.now(datetime.UTC)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now)
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .sign(key, hashes.SHA256())
    )
    (folder / "redis.crt").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    clear = (serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "redis.key").write_bytes(key.private_bytes(serialization.Encoding.PEM, *clear))


def test_a_hint_reaches_its_worker_over_tls(over_tls: Site) -> None:
    worker = subprocess.Popen([sys.executable, "-c", ONE_JOB, over_tls.redis_url("node-m01")])
    with closing(queue.Publisher(over_tls.redis_url("api"))) as publisher:
        publisher.offer([Offer(job_id=1, node="m01")])
        assert worker.wait(timeout=60) == -signal.SIGKILL


def test_without_tls_or_its_certificate_nobody_gets_on(over_tls: Site) -> None:
    address = over_tls.redis_url("api")
    without = [address.replace("rediss", "redis").partition("?")[0], address.partition("&")[0]]
    for one in without:
        with pytest.raises(NoConnection), queue.redis_client(one) as client:
            client.ping()

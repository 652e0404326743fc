# SPDX-License-Identifier: MIT
"""How `flyball fetch` gets there: HTTP/2, TLS and its options, proxies; and what it refuses."""
import base64
import gzip
import http.server
import json
import socket
import ssl
import subprocess
import threading
import time
import zlib

import pytest

from batch import FAST, LONG_S
from origin import Handler, Origin, Server

NGINX = """daemon off; worker_processes 1; pid {dir}/nginx.pid; error_log {dir}/error.log;
events {{ worker_connections 256; }}
http {{
    access_log {dir}/access.log; client_body_temp_path {dir}/1; proxy_temp_path {dir}/2;
    fastcgi_temp_path {dir}/3; uwsgi_temp_path {dir}/4; scgi_temp_path {dir}/5;
    log_format plain '$server_protocol $connection $request_uri'; access_log {dir}/plain.log plain;
    server {{ listen 127.0.0.1:{port} ssl http2; ssl_certificate {dir}/server.crt;
        ssl_certificate_key {dir}/server.key;
        location / {{ default_type text/plain; return 200 "$server_protocol"; }} }}
}}
"""


# ------------------------------------------------------------------------------------------- TLS


def openssl(folder, *words):
    subprocess.run(['openssl', *words], cwd=folder, check=True, capture_output=True,
                   timeout=LONG_S)


@pytest.fixture(name='keys', scope='module')
def fixture_keys(tmp_path_factory):
    """An authority, a server for 127.0.0.1 and localhost, and a client, in one folder."""
    folder = tmp_path_factory.mktemp('keys')
    new = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes',
           '-days', '30']
    openssl(folder, *new, '-keyout', 'ca.key', '-out', 'ca.crt', '-subj', '/CN=authority')
    for name, subject in (('server', '127.0.0.1'), ('client', 'client')):
        (folder / f'{name}.ext').write_text('subjectAltName=IP:127.0.0.1,DNS:localhost\n')
        openssl(folder, 'req', '-new', '-newkey', 'ec', '-pkeyopt',
                'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', f'{name}.key', '-out',
                f'{name}.csr', '-subj', f'/CN={subject}')
        openssl(folder, 'x509', '-req', '-in', f'{name}.csr', '-CA', 'ca.crt', '-CAkey', 'ca.key',
                '-CAcreateserial', '-days', '30', '-extfile', f'{name}.ext', '-out',
                f'{name}.crt')
    return folder


class QuietServer(Server):
    """Handshakes fail on purpose here; each in its thread, so that the others go on."""

    def finish_request(self, request, client_address):
        request.settimeout(LONG_S)
        try:
            request = self.tls.wrap_socket(request, server_side=True)
        except (ssl.SSLError, OSError):
            return
        super().finish_request(request, client_address)


class TlsOrigin(Origin):
    def __init__(self, keys, asks_for_client):
        super().__init__()
        super().close()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(keys / 'server.crt', keys / 'server.key')
        if asks_for_client:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(keys / 'ca.crt')
        self.server = QuietServer(('127.0.0.1', 0), Handler)
        self.server.origin, self.server.tls = self, context
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.port = self.server.server_address[1]
        self.url = f'https://127.0.0.1:{self.port}'


@pytest.fixture(name='tls', scope='module')
def fixture_tls(keys):
    origin = TlsOrigin(keys, False)
    yield origin
    origin.close()


def only(done):
    return json.loads(done.stdout)


def test_a_certificate_is_checked(batch, tls, keys):
    words = [f'{tls.url}/ok/1', '-q', '--retries', '0', *FAST]
    done = batch.run(*words, '--recovery', '*/*=escalate')
    assert done.returncode == 3 and only(done)['error']['class'] == 'tls'
    for trust in (['--cacert', keys / 'ca.crt'], ['--insecure'], ['-k']):
        done = batch.run(*words, '--fresh', *trust)
        assert done.returncode == 0 and only(done)['status'] == 200, done.stderr


def test_a_folder_of_certificates(batch, tls, keys, tmp_path):
    (tmp_path / 'trusted').mkdir()
    (tmp_path / 'trusted/ca.pem').write_bytes((keys / 'ca.crt').read_bytes())
    openssl(tmp_path, 'rehash', 'trusted')
    done = batch.run(f'{tls.url}/ok/1', '-q', '--capath', 'trusted', *FAST)
    assert done.returncode == 0, done.stdout


def test_the_name_in_the_certificate_counts(batch, tls, keys):
    words = ['-q', '--cacert', keys / 'ca.crt', '--recovery', '*/*=escalate', *FAST]
    there = ['--resolve', f'localhost:{tls.port}:127.0.0.1',
             '--resolve', f'elsewhere.example:{tls.port}:127.0.0.1']
    done = batch.run(f'https://localhost:{tls.port}/ok/1', *there, *words)
    assert done.returncode == 0, done.stdout
    done = batch.run(f'https://elsewhere.example:{tls.port}/ok/1', *there, *words)
    assert done.returncode == 3 and only(done)['error']['class'] == 'tls'


def test_a_certificate_of_our_own(batch, keys):
    origin = TlsOrigin(keys, True)
    words = [f'{origin.url}/ok/1', '-q', '--cacert', keys / 'ca.crt', '--recovery',
             '*/*=escalate', *FAST]
    done = batch.run(*words)
    assert done.returncode == 3 and not origin.arrivals
    done = batch.run(*words, '--fresh', '-E', keys / 'client.crt', '--key', keys / 'client.key')
    assert done.returncode == 0, done.stdout
    origin.close()


# ---------------------------------------------------------------------------------------- HTTP/2


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


@pytest.fixture(name='nginx', scope='module')
def fixture_nginx(keys):
    port = free_port()
    (keys / 'nginx.conf').write_text(NGINX.format(dir=keys, port=port))
    process = subprocess.Popen(['/usr/sbin/nginx', '-p', keys, '-c', keys / 'nginx.conf'],
                               stderr=subprocess.DEVNULL)
    end = time.monotonic() + LONG_S
    while True:
        try:
            socket.create_connection(('127.0.0.1', port)).close()
            break
        except OSError:
            assert process.poll() is None and time.monotonic() < end
            time.sleep(0.05)
    yield f'https://127.0.0.1:{port}', keys / 'plain.log'
    process.terminate()
    process.wait(timeout=LONG_S)


def arrivals(log, path):
    """(protocol, connection) of what came for this path."""
    lines = [line.split() for line in log.read_text().splitlines()]
    return [(protocol, connection) for protocol, connection, uri in lines if uri.startswith(path)]


def test_many_requests_share_a_connection_of_http_2(batch, nginx, keys):
    url, log = nginx
    done = batch.run(f'{url}/two/{{1..200}}', '--jsonl', batch.out, '-q', '--cacert',
                     keys / 'ca.crt', *FAST)
    assert done.returncode == 0, done.stderr
    results = batch.by_id()
    assert len(results) == 200 and {r['body'] for r in results.values()} == {'HTTP/2.0'}
    assert all(r['headers']['content-length'] == '8' for r in results.values())
    came = arrivals(log, '/two/')
    assert len(came) == 200 and {protocol for protocol, _ in came} == {'HTTP/2.0'}
    assert len({connection for _, connection in came}) <= 4


def test_not_unless_wanted(batch, nginx, keys):
    url, log = nginx
    done = batch.run(f'{url}/one/{{1..20}}', '--jsonl', batch.out, '-q', '--http1.1', '--cacert',
                     keys / 'ca.crt', *FAST)
    assert done.returncode == 0, done.stderr
    assert {r['body'] for r in batch.results()} == {'HTTP/1.1'}
    assert {protocol for protocol, _ in arrivals(log, '/one/')} == {'HTTP/1.1'}


# --------------------------------------------------------------------------------------- proxies


class Relay(http.server.BaseHTTPRequestHandler):
    """A proxy: absolute requests are passed on, CONNECT makes a tunnel."""
    protocol_version = 'HTTP/1.1'

    def log_message(self, *args):
        pass

    def is_allowed(self):
        wanted = self.server.wanted
        if not wanted or self.headers.get('Proxy-Authorization') == wanted:
            return True
        self.send_response(407)
        self.send_header('Proxy-Authenticate', 'Basic realm="relay"')
        self.send_header('Content-Length', '0')
        self.end_headers()
        return False

    def do_GET(self):
        self.server.asked.append((self.command, self.path))
        if not self.is_allowed():
            return
        host = self.path.split('/')[2]
        name, port = host.split(':')
        with socket.create_connection((name, int(port))) as there:
            path = '/' + self.path.split('/', 3)[3]
            there.sendall(f'GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n'
                          .encode())
            while data := there.recv(65536):
                self.wfile.write(data)
        self.close_connection = True

    def do_CONNECT(self):
        self.server.asked.append((self.command, self.path))
        if not self.is_allowed():
            return
        name, port = self.path.split(':')
        there = socket.create_connection((name, int(port)))
        self.wfile.write(b'HTTP/1.1 200 Here\r\n\r\n')
        back = threading.Thread(target=pump, args=(there, self.connection), daemon=True)
        back.start()
        pump(self.connection, there)
        back.join()
        there.close()
        self.close_connection = True


def pump(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


@pytest.fixture(name='relay')
def fixture_relay():
    server = Server(('127.0.0.1', 0), Relay)
    server.asked, server.wanted = [], None
    threading.Thread(target=server.serve_forever, daemon=True).start()
    server.url = f'http://127.0.0.1:{server.server_address[1]}'
    yield server
    server.shutdown()
    server.server_close()


def test_through_a_proxy(batch, origin, relay):
    done = batch.run(f'{origin.url}/ok/1', '-q', '-x', relay.url, *FAST)
    assert done.returncode == 0 and only(done)['status'] == 200, done.stderr
    assert relay.asked == [('GET', f'{origin.url}/ok/1')]
    assert origin.paths() == ['/ok/1']


def test_a_tunnel_for_tls(batch, tls, keys, relay):
    done = batch.run(f'{tls.url}/ok/{{1..3}}', '--jsonl', batch.out, '-q', '--proxy', relay.url,
                     '--cacert', keys / 'ca.crt', *FAST)
    assert done.returncode == 0, done.stderr
    assert {r['status'] for r in batch.results()} == {200}
    assert {method for method, _ in relay.asked} == {'CONNECT'}
    assert {place for _, place in relay.asked} == {f'127.0.0.1:{tls.port}'}


def test_a_proxy_that_wants_to_know_who_asks(batch, tls, keys, relay):
    relay.wanted = 'Basic ' + base64.b64encode(b'me:secret').decode()
    words = [f'{tls.url}/ok/1', '-q', '-x', relay.url, '--cacert', keys / 'ca.crt', '--recovery',
             '*/*=escalate', *FAST]
    assert batch.run(*words).returncode == 3
    done = batch.run(*words, '--fresh', '--proxy-user', 'me:secret')
    assert done.returncode == 0 and 'secret' not in done.stdout + done.stderr


def test_hosts_without_the_proxy(batch, origin, relay):
    done = batch.run(f'{origin.url}/ok/1', '-q', '-x', relay.url, '--noproxy', '127.0.0.1', *FAST)
    assert done.returncode == 0 and not relay.asked


def test_a_proxy_from_the_environment(batch, origin, relay):
    batch.env['http_proxy'] = relay.url
    done = batch.run(f'{origin.url}/ok/1', '-q', *FAST)
    assert done.returncode == 0 and len(relay.asked) == 1
    batch.env['no_proxy'] = '127.0.0.1'
    done = batch.run(f'{origin.url}/ok/2', '-q', *FAST)
    assert done.returncode == 0 and len(relay.asked) == 1


# --------------------------------------------------------------------------------- what it refuses


def test_a_refusal_by_policy_has_an_exit_code_of_its_own(batch, origin):
    done = batch.run(f'{origin.url}/to?file:///etc/passwd', f'{origin.url}/ok/1', '--jsonl',
                     batch.out, '-q', *FAST)
    assert done.returncode == 5, done.stderr
    assert [r['error']['class'] for r in batch.results() if 'error' in r] == ['policy']


@pytest.mark.parametrize('coding, pack', [('gzip', gzip.compress), ('deflate', zlib.compress)])
def test_compression_is_undone_within_bounds(batch, coding, pack, monkeypatch):
    def answer(handler, words):
        body = pack(b'plain') if words[1] == 'small' else pack(bytes(100 << 20))
        Handler.answer(handler, 200, body, [('Content-Encoding', coding)])

    monkeypatch.setattr(Handler, 'do_packed', answer, raising=False)
    origin = Origin()
    done = batch.run(f'{origin.url}/packed/small', '-q', '--compressed', *FAST)
    assert done.returncode == 0 and only(done)['body'] == 'plain'
    done = batch.run(f'{origin.url}/packed/bomb', '-q', '--compressed', '--recovery',
                     '*/*=escalate', *FAST)
    assert done.returncode == 3 and only(done)['error']['class'] == 'too-large'
    origin.close()

"""Signing in through an OpenID provider, which runs here, and out again."""

import json
from http.server import BaseHTTPRequestHandler
from time import time
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey
from playwright.sync_api import expect

from tests.served import Answering, Local, Served, free_port

pytestmark = pytest.mark.browser
KEY = RSAKey.generate_key(2048, {"kid": "one", "use": "sig", "alg": "RS256"}, private=True)
SECRETS = """[auth]
redirect_uri = "http://127.0.0.1:{port}/oauth2callback"
cookie_secret = "a long random text of this test"
client_id = "uncletc"
client_secret = "of this test"
server_metadata_url = "{provider}/.well-known/openid-configuration"
"""


class Provider(Answering, BaseHTTPRequestHandler):
    """Lets everyone in as the person that the server has."""

    def do_GET(self):
        at = urlsplit(self.path)
        asked = {name: values[0] for name, values in parse_qs(at.query).items()}
        if at.path == "/authorize":
            back = urlencode({"code": asked["nonce"], "state": asked["state"]})
            self.send_response(302)
            self.send_header("Location", f"{asked['redirect_uri']}?{back}")
            self.end_headers()
        elif at.path == "/keys":
            self._say({"keys": [KEY.as_dict(private=False)]})
        else:
            self._say(
                {
                    "issuer": self.server.address,
                    "authorization_endpoint": f"{self.server.address}/authorize",
                    "token_endpoint": f"{self.server.address}/token",
                    "jwks_uri": f"{self.server.address}/keys",
                    "id_token_signing_alg_values_supported": ["RS256"],
                }
            )

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        now = int(time())
        claims = self.server.person | {
            "iss": self.server.address,
            "aud": "uncletc",
            "nonce": parse_qs(body)["code"][0],
            "iat": now,
            "exp": now + 600,
        }
        token = jwt.encode({"alg": "RS256", "kid": "one"}, claims, KEY)
        self._say({"access_token": "x", "token_type": "Bearer", "id_token": token})

    def _say(self, said):
        self.say(json.dumps(said).encode())


@pytest.fixture
def provider():
    with Local(Provider) as server:
        yield server


@pytest.fixture
def address(tmp_path, provider):
    """A dashboard that asks for a sign-in."""
    port, place = free_port(), tmp_path / ".streamlit" / "secrets.toml"
    place.parent.mkdir()
    place.write_text(SECRETS.format(port=port, provider=provider.address), encoding="utf-8")
    with Served(tmp_path, port=port, UNCLETC_SIGN_IN="oidc", UNCLETC_DATA_DIR="") as server:
        server.until_healthy()
        yield server.address


def test_the_provider_says_who_it_is(browser, address, provider):
    page = browser.new_page()
    page.set_default_timeout(60_000)
    provider.person = {"sub": "7", "email": "ada@example.org", "email_verified": True}
    page.goto(f"{address}/lab")
    page.get_by_role("button", name="Sign in").wait_for()
    expect(page.get_by_text("Home")).to_have_count(0)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_text("Signed in as ada@example.org").wait_for()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("button", name="Sign in").wait_for()
    # Another one, whose address the provider has not verified.
    provider.person = {"sub": "8", "email": "ada@example.org", "email_verified": False}
    page.get_by_role("button", name="Sign in").click()
    page.get_by_text("Signed in as 8").wait_for()
    page.close()

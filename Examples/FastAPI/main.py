"""A back end for an app that sells in the App Store and on Google Play.

../README.md describes its routes and settings.
"""

import hmac
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any
from urllib.parse import quote

import httpx
import jwt
from fastapi import Depends, FastAPI, HTTPException, Request
from fastapi.responses import JSONResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel
from pydantic_settings import BaseSettings
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

log = logging.getLogger("uvicorn.error")


class Settings(BaseSettings):
    """The environment."""

    issuer: str
    audience: str
    signing_key: dict[str, str]
    till_url: str
    till_api_key: str
    till_webhook_secret: str


settings = Settings()
signing_key = jwt.PyJWK(settings.signing_key)
webhook = Webhook(settings.till_webhook_secret)
till = httpx.AsyncClient(
    base_url=settings.till_url, headers={"Authorization": f"Bearer {settings.till_api_key}"},
    params={"issuer": settings.issuer}, timeout=20)

# Put your own accounts here, with hashes of passwords. Till has the same names.
passwords = {"alice": "correct horse", "bob": "battery staple"}
# The messages of webhooks by their ids. Put a table of your database here.
messages: dict[str, dict[str, Any]] = {}


@asynccontextmanager
async def lifespan(_: FastAPI) -> AsyncIterator[None]:
    async with till:
        yield


app = FastAPI(title="Garden", lifespan=lifespan)


class Credentials(BaseModel):
    name: str
    password: str


class Session(BaseModel):
    token: str


@app.post("/sessions")
async def log_in(credentials: Credentials) -> Session:
    """Answers with a token (RFC 7519) that this back end and Till accept."""
    password = passwords.get(credentials.name)
    if password is None or not hmac.compare_digest(password.encode(), credentials.password.encode()):
        raise HTTPException(401, "The name or the password is wrong.")
    now = int(time.time())
    claims = {
        "iss": settings.issuer, "aud": settings.audience, "sub": credentials.name, "iat": now, "exp": now + 3600}
    return Session(token=jwt.encode(claims, signing_key, "EdDSA"))


def authenticated_user(bearer: Annotated[HTTPAuthorizationCredentials, Depends(HTTPBearer())]) -> str:
    try:
        claims = jwt.decode(
            bearer.credentials, signing_key, ["EdDSA"], issuer=settings.issuer, audience=settings.audience)
    except jwt.InvalidTokenError as error:
        raise HTTPException(401, f"Log in: {error}.") from error
    return str(claims["sub"])


User = Annotated[str, Depends(authenticated_user)]


class Purchase(BaseModel):
    """A signed transaction of the App Store, or a purchase token of Google Play."""

    model_config = ConfigDict(alias_generator=to_camel)

    signed_transaction: str | None = None
    purchase_token: str | None = None


@app.post("/purchases")
async def redeem(purchase: Purchase, user: User) -> Any:
    """Redeems a purchase for the user. The app finishes it if `mayFinish` is true."""
    return await call_till("POST", user, "transactions", purchase.model_dump(by_alias=True, exclude_none=True))


@app.get("/items")
async def items(user: User) -> Any:
    """Lists what the user owns."""
    return await call_till("GET", user, "items")


async def call_till(method: str, user: str, resource: str, body: Any = None) -> Any:
    response = await till.request(method, f"/v1/users/{quote(user, safe='')}/{resource}", json=body)
    return response.raise_for_status().json()


@app.exception_handler(httpx.HTTPError)
async def till_failed(_: Request, error: httpx.HTTPError) -> JSONResponse:
    """Tells the app of a refusal, such as of a purchase that belongs to another user.

    Any other failure passes: the app has not finished the purchase, so the store delivers it again.
    """
    if isinstance(error, httpx.HTTPStatusError) and error.response.status_code in (400, 409, 422):
        problem = error.response.json()
        return JSONResponse({"detail": problem["detail"], "code": problem["code"]}, error.response.status_code)
    log.error("Till has failed: %r", error)
    return JSONResponse({"detail": "Try again later."}, 503)


@app.post("/hooks", status_code=204)
async def receive(request: Request) -> None:
    """Keeps a message of Till's (standardwebhooks.com)."""
    try:
        # Compares in constant time, and refuses what is older than five minutes.
        message = webhook.verify(await request.body(), dict(request.headers))
    except (WebhookVerificationError, ValueError) as error:
        raise HTTPException(401, f"The message is not valid: {error}.") from error
    # One that comes again changes nothing.
    messages.setdefault(request.headers["webhook-id"], message)


@app.get("/activity")
async def activity(user: User) -> list[dict[str, Any]]:
    """Lists what has happened to the user's purchases, in the order of the messages' numbers."""
    own = {"issuer": settings.issuer, "name": user}
    return sorted(
        (message for message in messages.values() if message["data"].get("user") == own),
        key=lambda message: message["data"]["number"])

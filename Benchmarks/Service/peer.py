"""The peer of `make bench-service`: Apple's own library behind FastAPI, with purchases in SQLite or PostgreSQL.

It serves the same two requests as Till. It authenticates the caller by a hashed key, verifies the signed transaction with its
chain, keeps one owner for each purchase, and answers once the purchase is durable. Its answers state each item with since when,
until when, by which purchase and in which state the user owns it. `PEER_DATABASE` is the path of a SQLite file or the
`postgres:` URL of a database.
"""
import asyncio
import contextlib
import hashlib
import hmac
import itertools
import os
import sqlite3
import time
from collections.abc import AsyncIterator, Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from operator import itemgetter
from typing import NamedTuple, Protocol

import asyncpg
import orjson
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException
from fastapi import Depends, FastAPI, Header, HTTPException, Response
from pydantic import BaseModel

PREFIX = "com.memolease.sesac1."


class Purchase(NamedTuple):
    """A row of the table."""

    transaction_id: str
    original_transaction_id: str
    user: str
    product_id: str
    purchase_date: int
    expires_date: int | None
    revocation_date: int | None
    proof: str
    granted_at: int


# Quoted because "user" is a reserved word of PostgreSQL.
COLUMNS = ", ".join(f'"{column}"' for column in Purchase._fields)


class Source(NamedTuple):
    """The part of a purchase that its item states."""

    product_id: str
    transaction_id: str
    purchase_date: int
    expires_date: int | None


SOURCES = ", ".join(Source._fields)


class OwnedByAnother(Exception):
    """The purchase belongs to another user."""


class Storage(Protocol):
    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def redeem(self, purchase: Purchase) -> list[Source]:
        """Stores a purchase unless it is stored already, and returns what gives its user items."""

    async def sources(self, user: str, now: int) -> list[Source]:
        """The purchases that give a user items, in the order of products and dates."""


class SQLiteStorage:
    """Purchases in a SQLite file.

    A write waits for the disk, so it runs in a thread that has the only writing connection of the process. A read takes less time
    than it takes to reach another thread, and no write delays it.
    """

    OWN = 'INSERT INTO owner (original_transaction_id, "user") VALUES (?, ?) ON CONFLICT DO NOTHING'
    OWNER = 'SELECT "user" FROM owner WHERE original_transaction_id = ?'
    INSERT = f"INSERT INTO purchase ({COLUMNS}) VALUES ({', '.join('?' for _ in Purchase._fields)}) ON CONFLICT DO NOTHING"
    OF_USER = (
        f'SELECT {SOURCES} FROM purchase WHERE "user" = ? AND revocation_date IS NULL'
        " AND (expires_date IS NULL OR expires_date > ?) ORDER BY product_id, purchase_date"
    )

    def __init__(self, path: str) -> None:
        self._path = path

    async def open(self) -> None:
        self._reader, self._writer = self._connection(), self._connection()
        self._writing = ThreadPoolExecutor(1)

    async def close(self) -> None:
        self._writing.shutdown()
        self._reader.close()
        self._writer.close()

    async def redeem(self, purchase: Purchase) -> list[Source]:
        return await asyncio.get_running_loop().run_in_executor(self._writing, self._redeem, purchase)

    async def sources(self, user: str, now: int) -> list[Source]:
        return self._sources(self._reader, user, now)

    def _connection(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=30, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        return connection

    def _redeem(self, purchase: Purchase) -> list[Source]:
        connection = self._writer
        connection.execute("BEGIN IMMEDIATE")
        try:
            connection.execute(self.OWN, (purchase.original_transaction_id, purchase.user))
            (owner,) = connection.execute(self.OWNER, (purchase.original_transaction_id,)).fetchone()
            if owner != purchase.user:
                raise OwnedByAnother
            connection.execute(self.INSERT, purchase)
            sources = self._sources(connection, purchase.user, purchase.granted_at)
            connection.execute("COMMIT")
            return sources
        except BaseException:
            connection.execute("ROLLBACK")
            raise

    def _sources(self, connection: sqlite3.Connection, user: str, now: int) -> list[Source]:
        return connection.execute(self.OF_USER, (user, now)).fetchall()


class PostgreSQLStorage:
    """Purchases in PostgreSQL, through a pool of connections. asyncpg prepares each statement once for each connection."""

    # One statement, and so one way to the server and one transaction. The row of the owner is locked until its end, so that two
    # users cannot redeem one purchase at once. The last part does not see what the others write, so `redeem` adds it.
    REDEEM = f"""
        WITH owning AS (
            INSERT INTO owner (original_transaction_id, "user") VALUES ($2, $3)
            ON CONFLICT (original_transaction_id) DO UPDATE SET "user" = owner."user" RETURNING "user"
        ), inserted AS (
            INSERT INTO purchase ({COLUMNS})
            SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9 FROM owning WHERE owning."user" = $3
            ON CONFLICT DO NOTHING RETURNING {SOURCES}, revocation_date
        )
        SELECT owning."user" = $3 AS is_owner, item.* FROM owning LEFT JOIN (
            SELECT {SOURCES} FROM inserted WHERE revocation_date IS NULL AND (expires_date IS NULL OR expires_date > $9)
            UNION ALL
            SELECT {SOURCES} FROM purchase
            WHERE "user" = $3 AND revocation_date IS NULL AND (expires_date IS NULL OR expires_date > $9)
        ) AS item ON true ORDER BY product_id, purchase_date
        """
    OF_USER = (
        f'SELECT {SOURCES} FROM purchase WHERE "user" = $1 AND revocation_date IS NULL'
        " AND (expires_date IS NULL OR expires_date > $2) ORDER BY product_id, purchase_date"
    )

    def __init__(self, url: str) -> None:
        self._url = url

    async def open(self) -> None:
        self._pool = await asyncpg.create_pool(
            self._url, min_size=10, max_size=10, reset=self._keep, server_settings={"synchronous_commit": "on"}
        )

    async def close(self) -> None:
        await self._pool.close()

    @staticmethod
    async def _keep(connection: asyncpg.Connection) -> None:
        """Replaces the pool's reset, a query after each use: no request changes the settings of its session."""

    async def redeem(self, purchase: Purchase) -> list[Source]:
        rows = await self._pool.fetch(self.REDEEM, *purchase)
        if not rows[0]["is_owner"]:
            raise OwnedByAnother
        return [tuple(row)[1:] for row in rows if row["product_id"] is not None]

    async def sources(self, user: str, now: int) -> list[Source]:
        return await self._pool.fetch(self.OF_USER, user, now)


key_digest = bytes.fromhex(os.environ["PEER_KEY_DIGEST"])
with open(os.environ["PEER_ROOT"], "rb") as root:
    verifier = SignedDataVerifier([root.read()], False, Environment.SANDBOX, "com.memolease.sesac1")
database = os.environ["PEER_DATABASE"]
storage: Storage = PostgreSQLStorage(database) if database.startswith("postgres:") else SQLiteStorage(database)


@contextlib.asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    await storage.open()
    yield
    await storage.close()


app = FastAPI(lifespan=lifespan)


async def caller(authorization: str = Header()) -> None:
    digest = hashlib.sha256(authorization.removeprefix("Bearer ").encode()).digest()
    if not hmac.compare_digest(digest, key_digest):
        raise HTTPException(401)


class Proof(BaseModel):
    signedTransaction: str


def moment(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, timezone.utc)


def items(sources: Iterable[Source]) -> list[dict]:
    """The items of purchases. Of several purchases of an item, the one that ends last gives it."""
    found = []
    for product, purchases in itertools.groupby(sources, itemgetter(0)):
        (_, source, since, until), *others = purchases
        for _, other, _, end in others:
            if until is not None and (end is None or end > until):
                source, until = other, end
        item = {"item": product.removeprefix(PREFIX), "since": moment(since), "source": source}
        if until is None:
            item["state"] = "owned"
        else:
            item["state"], item["until"] = "active", moment(until)
        found.append(item)
    return found


def answer(content: dict) -> Response:
    return Response(orjson.dumps(content, option=orjson.OPT_UTC_Z), media_type="application/json")


def milliseconds_now() -> int:
    return int(time.time() * 1000)


# Verification occupies the processor, so a thread would not shorten it; a worker runs on each core.
@app.post("/v1/users/{user}/transactions", dependencies=[Depends(caller)])
async def redeem(user: str, proof: Proof) -> Response:
    try:
        transaction = verifier.verify_and_decode_signed_transaction(proof.signedTransaction)
    except VerificationException:
        raise HTTPException(422)
    purchase = Purchase(
        transaction.transactionId,
        transaction.originalTransactionId,
        user,
        transaction.productId,
        transaction.purchaseDate,
        transaction.expiresDate,
        transaction.revocationDate,
        hashlib.sha256(proof.signedTransaction.encode()).hexdigest(),
        milliseconds_now(),
    )
    try:
        sources = await storage.redeem(purchase)
    except OwnedByAnother:
        raise HTTPException(409)
    return answer({"transactionId": purchase.transaction_id, "result": "granted", "items": items(sources)})


@app.get("/v1/users/{user}/items", dependencies=[Depends(caller)])
async def owned(user: str) -> Response:
    return answer({"items": items(await storage.sources(user, milliseconds_now()))})

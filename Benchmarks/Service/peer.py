"""The peer of `make bench-service`: Apple's own library behind FastAPI, with purchases in SQLite or PostgreSQL.

It serves the same two requests as Till. It authenticates the caller by a hashed key, verifies the signed transaction with its
chain, keeps one owner for each purchase, and answers once the purchase is durable. `PEER_DATABASE` is the path of a SQLite
file or the `postgres:` URL of a database.
"""
import contextlib
import hashlib
import hmac
import os
import sqlite3
import threading
import time
from collections.abc import AsyncIterator
from typing import NamedTuple, Protocol

import asyncpg
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException
from fastapi import Depends, FastAPI, Header, HTTPException
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel

PREFIX = "com.memolease.sesac1."


class Purchase(NamedTuple):
    """A row of the table."""

    transaction_id: str
    original_transaction_id: str
    user: str
    product_id: str
    purchase_date: int
    proof: str
    granted_at: int


# Quoted because "user" is a reserved word of PostgreSQL.
COLUMNS = ", ".join(f'"{column}"' for column in Purchase._fields)


class OwnedByAnother(Exception):
    """The purchase belongs to another user."""


class Storage(Protocol):
    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def redeem(self, purchase: Purchase) -> list[str]:
        """Stores a purchase unless it is stored already, and returns the products of its user."""

    async def products(self, user: str) -> list[str]:
        """The products of a user."""


class SQLiteStorage:
    """Purchases in a SQLite file. SQLite's calls block, so they run in threads, each with a connection of its own."""

    OWNER = 'SELECT "user" FROM purchase WHERE original_transaction_id = ?'
    INSERT = f"INSERT INTO purchase ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
    PRODUCTS = 'SELECT DISTINCT product_id FROM purchase WHERE "user" = ? ORDER BY product_id'

    def __init__(self, path: str) -> None:
        self._path = path
        self._local = threading.local()

    async def open(self) -> None:
        pass

    async def close(self) -> None:
        pass

    async def redeem(self, purchase: Purchase) -> list[str]:
        return await run_in_threadpool(self._redeem, purchase)

    async def products(self, user: str) -> list[str]:
        return await run_in_threadpool(self._products, user)

    def _connection(self) -> sqlite3.Connection:
        if not hasattr(self._local, "connection"):
            connection = sqlite3.connect(self._path, timeout=30, isolation_level=None)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            self._local.connection = connection
        return self._local.connection

    def _redeem(self, purchase: Purchase) -> list[str]:
        connection = self._connection()
        connection.execute("BEGIN IMMEDIATE")
        try:
            owner = connection.execute(self.OWNER, (purchase.original_transaction_id,)).fetchone()
            if owner and owner[0] != purchase.user:
                raise OwnedByAnother
            connection.execute(self.INSERT, purchase)
            products = self._products(purchase.user)
            connection.execute("COMMIT")
            return products
        except BaseException:
            connection.execute("ROLLBACK")
            raise

    def _products(self, user: str) -> list[str]:
        return [product for (product,) in self._connection().execute(self.PRODUCTS, (user,))]


class PostgreSQLStorage:
    """Purchases in PostgreSQL, through a pool of connections. asyncpg prepares each statement once for each connection."""

    # Held until the end of the transaction, so that two users cannot redeem one purchase at once.
    LOCK = "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))"
    OWNER = 'SELECT "user" FROM purchase WHERE original_transaction_id = $1 LIMIT 1'
    INSERT = f"INSERT INTO purchase ({COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING"
    PRODUCTS = 'SELECT DISTINCT product_id FROM purchase WHERE "user" = $1 ORDER BY product_id'

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

    async def redeem(self, purchase: Purchase) -> list[str]:
        async with self._pool.acquire() as connection, connection.transaction():
            await connection.execute(self.LOCK, purchase.original_transaction_id)
            owner = await connection.fetchval(self.OWNER, purchase.original_transaction_id)
            if owner is not None and owner != purchase.user:
                raise OwnedByAnother
            await connection.execute(self.INSERT, *purchase)
            return await self._products(connection, purchase.user)

    async def products(self, user: str) -> list[str]:
        async with self._pool.acquire() as connection:
            return await self._products(connection, user)

    async def _products(self, connection: asyncpg.Connection, user: str) -> list[str]:
        return [row["product_id"] for row in await connection.fetch(self.PRODUCTS, user)]


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


def items(products: list[str]) -> list[str]:
    return [product.removeprefix(PREFIX) for product in products]


# Verification occupies the processor, so a thread would not shorten it; a worker runs on each core.
@app.post("/v1/users/{user}/transactions", dependencies=[Depends(caller)])
async def redeem(user: str, proof: Proof) -> dict:
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
        hashlib.sha256(proof.signedTransaction.encode()).hexdigest(),
        int(time.time() * 1000),
    )
    try:
        products = await storage.redeem(purchase)
    except OwnedByAnother:
        raise HTTPException(409)
    return {"transactionId": purchase.transaction_id, "result": "granted", "items": items(products)}


@app.get("/v1/users/{user}/items", dependencies=[Depends(caller)])
async def owned(user: str) -> dict:
    return {"items": items(await storage.products(user))}

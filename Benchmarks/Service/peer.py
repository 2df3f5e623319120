"""What a team would write instead: Apple's own library behind FastAPI, purchases in SQLite. Measured by `make bench-service`.

It does what Till's service does for the same two requests: it authenticates the caller by a hashed key, verifies the signed
transaction with its chain, keeps one owner for each purchase, and answers when that is on the disk.
"""
import hashlib
import hmac
import os
import sqlite3
import threading
import time

from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException
from fastapi import Depends, FastAPI, Header, HTTPException
from pydantic import BaseModel

PREFIX = "com.memolease.sesac1."
key_digest = bytes.fromhex(os.environ["PEER_KEY_DIGEST"])
with open(os.environ["PEER_ROOT"], "rb") as root:
    verifier = SignedDataVerifier([root.read()], False, Environment.SANDBOX, "com.memolease.sesac1")
local = threading.local()
app = FastAPI()


def database() -> sqlite3.Connection:
    if not hasattr(local, "connection"):
        connection = sqlite3.connect(os.environ["PEER_DATABASE"], timeout=30, isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        local.connection = connection
    return local.connection


def caller(authorization: str = Header()) -> None:
    digest = hashlib.sha256(authorization.removeprefix("Bearer ").encode()).digest()
    if not hmac.compare_digest(digest, key_digest):
        raise HTTPException(401)


class Proof(BaseModel):
    signedTransaction: str


def items(connection: sqlite3.Connection, user: str) -> list[str]:
    rows = connection.execute("SELECT DISTINCT product_id FROM purchase WHERE user = ? ORDER BY product_id", (user,))
    return [product.removeprefix(PREFIX) for (product,) in rows]


@app.post("/v1/users/{user}/transactions", dependencies=[Depends(caller)])
def redeem(user: str, proof: Proof) -> dict:
    try:
        transaction = verifier.verify_and_decode_signed_transaction(proof.signedTransaction)
    except VerificationException:
        raise HTTPException(422)
    connection = database()
    connection.execute("BEGIN IMMEDIATE")
    try:
        row = connection.execute(
            "SELECT user FROM purchase WHERE original_transaction_id = ?", (transaction.originalTransactionId,)
        ).fetchone()
        if row and row[0] != user:
            raise HTTPException(409)
        connection.execute(
            "INSERT INTO purchase (transaction_id, original_transaction_id, user, product_id, purchase_date, proof, granted_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (
                transaction.transactionId,
                transaction.originalTransactionId,
                user,
                transaction.productId,
                transaction.purchaseDate,
                hashlib.sha256(proof.signedTransaction.encode()).hexdigest(),
                int(time.time() * 1000),
            ),
        )
        owned = items(connection, user)
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    return {"transactionId": transaction.transactionId, "result": "granted", "items": owned}


@app.get("/v1/users/{user}/items", dependencies=[Depends(caller)])
def owned(user: str) -> dict:
    return {"items": items(database(), user)}

import Ledger
import Proofs

/// The answer to store under an idempotency key, in the commit of its claims.
package struct AnswerKeeping: Sendable {
    package let key: IdempotencyKey
    /// The time of the oldest valid answers. Older ones are deleted.
    let oldest: Timestamp
    /// Returns the bytes to store; nil stores nothing.
    let make: @Sendable (ClaimAnswer) -> KeptAnswer?
}

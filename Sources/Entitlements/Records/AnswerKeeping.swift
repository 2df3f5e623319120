import Commerce
import Ledger

/// The answer to keep under an idempotency key, in the commit of the claims that it is about.
public struct AnswerKeeping: Sendable {
    public let key: IdempotencyKey
    /// The age of the oldest answers that count; older ones are forgotten.
    let oldest: Timestamp
    /// Returns the bytes to keep; nil keeps nothing.
    let make: @Sendable (ClaimAnswer) -> KeptAnswer?
}

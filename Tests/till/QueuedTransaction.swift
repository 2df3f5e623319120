/// A transaction of the payment queue, in the output of `till buy`, `till store queue` and `till store buy`.
struct QueuedTransaction: Decodable {
    let state: String
    let transactionId: String?
    let originalTransactionId: String?
}

import AppStore
import Proofs

/// A payment of the queue, as a page shows it.
struct StoreShownPayment: Sendable {
    let queued: QueuedTransaction
    /// True if the customer can complete the payment.
    let isInterrupted: Bool

    init(_ queued: QueuedTransaction, _ store: Store) throws {
        self.queued = queued
        isInterrupted =
            queued.transaction.error == nil ? false : try store.isInterrupted(queued.transaction.identifier)
    }
}

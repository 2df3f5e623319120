import Commerce

/// The identity of a transaction: its identifier within its origin, compared by bytes.
package struct TransactionKey: Hashable, Sendable {
    package let origin: Origin
    private let bytes: ByteKey

    package init(origin: Origin, identifier: String) {
        self.origin = origin
        bytes = ByteKey(identifier)
    }

    package var identifier: String { bytes.text }
}

extension TransactionKey: Comparable {
    /// By the bytes of the identifiers, as databases order them.
    package static func < (left: TransactionKey, right: TransactionKey) -> Bool {
        left.bytes < right.bytes
    }
}

extension Claim {
    package var key: TransactionKey { TransactionKey(origin: origin, identifier: transactionIdentifier) }

    /// The original transaction that the proof names.
    package var originalKey: TransactionKey {
        TransactionKey(origin: origin, identifier: originalTransactionIdentifier)
    }
}

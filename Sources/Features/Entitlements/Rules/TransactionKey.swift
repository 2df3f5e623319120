import Proofs

/// The identity of a transaction: its identifier within its app and origin, compared by bytes.
///
/// Xcode's identifiers begin at "0" in every app.
package struct TransactionKey: Hashable, Sendable {
    /// The bundle identifier of the app.
    package let app: String
    package let origin: Origin
    private let bytes: ByteKey

    package init(app: String, origin: Origin, identifier: String) {
        self.app = app
        self.origin = origin
        bytes = ByteKey(identifier)
    }

    package var identifier: String { bytes.text }

    /// Hashes only the identifier, because two apps or origins rarely share one.
    package func hash(into hasher: inout Hasher) {
        bytes.hash(into: &hasher)
    }
}

extension TransactionKey: Comparable {
    /// Orders by the bytes of the identifiers, like databases.
    package static func < (left: TransactionKey, right: TransactionKey) -> Bool {
        if left.bytes != right.bytes { return left.bytes < right.bytes }
        return (left.origin.rawValue, left.app) < (right.origin.rawValue, right.app)
    }
}

extension Claim {
    package var key: TransactionKey {
        TransactionKey(app: app, origin: origin, identifier: transactionIdentifier)
    }

    /// The original transaction of the proof.
    package var originalKey: TransactionKey {
        TransactionKey(app: app, origin: origin, identifier: originalTransactionIdentifier)
    }
}

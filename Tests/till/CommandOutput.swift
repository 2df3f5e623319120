/// The output of `till keys make --json`.
struct MadeKey: Decodable {
    let keyId: String
    let key: String

    var id: String { keyId }
}

/// The output of `till store keys --json`.
struct MadeStoreKey: Decodable {
    let keyId: String
    let issuerId: String
    /// The path of the private key's file.
    let privateKey: String
}

/// A transaction of the payment queue, in the output of `till buy`, `till store queue` and `till store buy`.
struct QueuedTransaction: Decodable {
    let state: String
    let transactionId: String?
    let originalTransactionId: String?
}

/// The output of `till receipt validate --json` for an invalid proof.
struct InvalidProof: Decodable {
    let reason: String
    let step: String
    let message: String
}

/// The output of `till ledger check --json`.
struct CheckedLedger: Decodable {
    let users: Int
    let redeemedTransactions: Int
    let problems: [String]
}

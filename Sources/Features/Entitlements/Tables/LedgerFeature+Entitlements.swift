import Ledger

extension LedgerFeature {
    /// The purchases of users, their items, and the grants and revocations of back ends.
    package static let entitlements = LedgerFeature(tables: Table.purchases + Table.team, rules: EntitlementRules.all)

    /// The signed bytes of proofs.
    package static let keptProofs = LedgerFeature(tables: [.keptProof, .keptCertificate])
}

extension Table {
    /// The signed bytes of proofs, without their certificates. `certificates` has the SHA-256 of each certificate,
    /// concatenated.
    fileprivate static let keptProof = Table(
        name: "kept_proof", family: .userData,
        columns: [.integer("user_id"), .blob("proof_digest", count: 32), .blob("bytes"), .blob("certificates")],
        key: ["user_id", "proof_digest"], hasLargeRows: true, erasure: .deletion, merge: .move)

    fileprivate static let keptCertificate = Table(
        name: "kept_certificate", family: .globalKey, columns: [.blob("digest", count: 32), .blob("bytes")],
        key: ["digest"], hasLargeRows: true)
}

extension LedgerReport {
    package var redeemedTransactions: Int { rows["redeemed_transaction"] ?? 0 }
    package var grants: Int { rows["team_grant"] ?? 0 }
    package var notifications: Int { rows["notification"] ?? 0 }
}

import Ledger

/// The SQL that writes the coverage of redeemed transactions, inside the caller's transaction.
struct CoverageRecords {
    let database: any LedgerDatabase

    func update(_ changed: [(place: PurchaseMoves.Place, coverage: Coverage)]) throws {
        try database.update(
            "entitlement", set: ["begins_at", "ends_at", "is_revoked"], where: ["user_id", "sequence"],
            changed.map { place, coverage in
                [coverage.beginsAt, coverage.endsAt, coverage.isRevoked, place.user, place.sequence]
            })
        try database.update(
            "credit", set: ["is_revoked"], where: ["user_id", "sequence"],
            changed.map { place, coverage in [coverage.isRevoked, place.user, place.sequence] })
    }
}

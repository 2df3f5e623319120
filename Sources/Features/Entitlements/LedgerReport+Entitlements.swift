import Ledger

extension LedgerReport {
    package var redeemedTransactions: Int { rows["redeemed_transaction"] ?? 0 }
    package var grants: Int { rows["team_grant"] ?? 0 }
    package var notifications: Int { rows["notification"] ?? 0 }
}

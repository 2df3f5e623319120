import Ledger

extension LedgerReport {
    public var redeemedTransactions: Int { rows["redeemed_transaction"] ?? 0 }
    public var grants: Int { rows["team_grant"] ?? 0 }
    public var notifications: Int { rows["notification"] ?? 0 }
}

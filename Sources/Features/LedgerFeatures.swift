import Ledger

extension [LedgerFeature] {
    /// All features with tables of their own, in use.
    package static let all: [LedgerFeature] = [
        .entitlements, .keptProofs, .googlePlay, .externalPurchases, .storeActions, .attributes, .accounts,
        .accountMail, .profiles, .seedApp, .webhooks,
        .forwarding, .catalogAdministration, .figures, .team,
        .resets,
    ]
}

import Foundation
import Proofs
import TestSupport

/// The notifications that the local App Store can send.
enum SentNotifications {
    /// The subtypes with which the store sends a type, nil for none of them; empty for a type that it cannot send.
    static func subtypes(of type: NotificationTypeV2) -> [Subtype?] {
        switch type {
        case .subscribed: [.initialBuy, .resubscribe]
        case .didChangeRenewalPref: [nil, .upgrade, .downgrade, .increaseQuantity, .decreaseQuantity]
        case .didChangeRenewalStatus: [.autoRenewEnabled, .autoRenewDisabled]
        case .offerRedeemed: [nil, .upgrade, .downgrade]
        case .didRenew: [nil, .billingRecovery]
        case .expired: [.voluntary, .billingRetry, .priceIncrease, .productNotForSale]
        case .didFailToRenew: [nil, .gracePeriod]
        case .gracePeriodExpired: [nil]
        case .priceIncrease: [.pending, .accepted]
        case .refund: [nil, .seats]
        case .refundDeclined, .refundReversed, .consumptionRequest: [nil]
        case .renewalExtended: [nil]
        case .renewalExtension: [.summary, .failure]
        case .revoke: [nil]
        case .test: [nil]
        case .oneTimeCharge: [nil]
        case .unclaimSeats: [nil]
        // Nothing that customers buy in an app brings these about. `NotificationOnDemandTests`, `ExternalPurchaseRoutesTests` and
        // `AdvancedCommerceTests` send each.
        case .externalPurchaseToken, .rescindConsent, .metadataUpdate, .migration, .priceChange: []
        }
    }

    /// A type with each of its subtypes, as the notifications name them.
    static func names(of type: NotificationTypeV2) -> [String] {
        subtypes(of: type).map { [type.rawValue, $0?.rawValue].compactMap(\.self).joined(separator: " ") }
    }

    /// The sources of the store, without those that send what nothing in an app brings about.
    static func sourcesOfStore() throws -> String {
        let folder = Project.root.appending(path: "Sources/AppStore/Store", directoryHint: .isDirectory)
        let others = ["NotificationOnDemand.swift", "ExternalPurchases.swift", "AdvancedCommerceAPI.swift"]
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.compactMap {
            $0 as? URL
        }
        return try (files ?? []).filter {
            $0.pathExtension == "swift" && !others.contains($0.lastPathComponent)
        }
        .map { try String(contentsOf: $0, encoding: .utf8) }.joined()
    }
}

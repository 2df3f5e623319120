import Foundation
import Proofs
import TestSupport

/// The notifications that the local App Store can send.
enum SentNotifications {
    /// The subtypes with which the store sends a type, nil for none of them; empty for a type that it cannot send.
    static func subtypes(of type: NotificationTypeV2) -> [Subtype?] {
        switch type {
        case .subscribed: [.initialBuy, .resubscribe]
        case .didChangeRenewalPref: [nil, .upgrade, .downgrade]
        case .didChangeRenewalStatus: [.autoRenewEnabled, .autoRenewDisabled]
        case .offerRedeemed: [nil, .upgrade, .downgrade]
        case .didRenew: [nil, .billingRecovery]
        case .expired: [.voluntary, .billingRetry, .priceIncrease, .productNotForSale]
        case .didFailToRenew: [nil, .gracePeriod]
        case .gracePeriodExpired: [nil]
        case .priceIncrease: [.pending, .accepted]
        case .refund, .refundDeclined, .refundReversed, .consumptionRequest: [nil]
        case .renewalExtended: [nil]
        case .renewalExtension: [.summary, .failure]
        case .revoke: [nil]
        case .test: [nil]
        case .oneTimeCharge: [nil]
        // Apple sends it, with the subtype UNREPORTED, of purchases outside the App Store: the local store makes none.
        case .externalPurchaseToken: []
        // Parents take back their consent to an app. The local store has no families with children.
        case .rescindConsent: []
        // These three are of the Advanced Commerce API, whose subscriptions the local store does not sell.
        case .metadataUpdate, .migration, .priceChange: []
        // The local store sells no seats.
        case .unclaimSeats: []
        }
    }

    /// A type with each of its subtypes, as the notifications name them.
    static func names(of type: NotificationTypeV2) -> [String] {
        subtypes(of: type).map { [type.rawValue, $0?.rawValue].compactMap(\.self).joined(separator: " ") }
    }

    static func sourcesOfStore() throws -> String {
        let folder = Project.root.appending(path: "Sources/AppStore/Store", directoryHint: .isDirectory)
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.compactMap {
            $0 as? URL
        }
        return try (files ?? []).filter { $0.pathExtension == "swift" }
            .map { try String(contentsOf: $0, encoding: .utf8) }.joined()
    }
}

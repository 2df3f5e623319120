import Entitlements
import HTTPSupport
import Hummingbird
import Proofs

extension AppStoreRoutes {
    private static let outcomes: [NotificationOutcome] = [.granted, .revoked, .recorded, .parked]

    func notifications(_ request: Request) async throws -> Page {
        let (type, app) = (try request.chosen("type"), try request.chosen("app"))
        let outcome = try request.chosen("outcome").flatMap(NotificationOutcome.init)
        let store: PurchaseStore? = try request.chosen("store")
        let list = try RequestedPage(request)
        let position = try list.position { ReceivedNotification.Position($0) }
        let found = try await services.ledger.read {
            try $0.notifications(
                ofType: type, outcome: outcome, in: app, from: store, before: position, limit: list.size)
        }
        let latest = try await services.ledger.read {
            try $0.notifications(before: nil, limit: 1)
        }
        let apps = services.appNames
        return AppStoreTab.page("App Store", AppStoreTab.notifications) {
            address(request.head.authority ?? "", last: latest.shown.first)
            part("Received notifications") {
                filters(AppStoreTab.notifications.path) {
                    Field.choice(
                        "type", "Type", empty: "All",
                        NotificationWords.types.map { ($0, Phrase(same: $0)) },
                        chosen: type)
                    Field.choice(
                        "outcome", "Outcome", empty: "All",
                        Self.outcomes.map { ($0.rawValue, $0.title) }, chosen: outcome?.rawValue)
                    Field.store(empty: "All", chosen: store?.rawValue)
                    Field.app(apps, empty: "All", chosen: app)
                }
                Self.table(
                    of: found.shown, hasSeveralApps: apps.count > 1,
                    empty: found.next == nil
                        ? "No notification matches." : "None among the last ones. Search further.",
                    next: found.next.map {
                        ConsolePath(
                            "app-store",
                            query: [
                                "type": type, "outcome": outcome?.rawValue, "store": store?.rawValue, "app": app,
                                "cursor": RequestedPage.cursor(after: $0.description),
                            ])
                    })
                note(
                    "Late: received an hour or more after its signature, so the first attempt of the store failed, or a reconciliation fetched it. Repeated: received more than once, by a repetition of the store or by a reconciliation."
                )
            }
        }
    }

    private static func table(
        of shown: [ReceivedNotification], hasSeveralApps: Bool, empty: Phrase, next: ConsolePath?
    ) -> HTML {
        Listing.table("Received notifications, newest first", of: shown, empty: empty, next: next) {
            column("Received") {
                spaced(
                    Shown.moment($0.notification.receivedAt), NotificationWords.marks($0),
                    $0.notification.origin.store == .appStore ? nil : Shown.badge($0.notification.origin.store.title))
            }
            column("Type") { received in
                let link = a(.href(.notification(received.notification))) { data(received.notification.type) }
                Shown.lines(link, received.notification.subtype.map { data($0) })
            }
            column("Outcome") { $0.notification.outcome.badge }
            column("Transaction") { received in
                let transaction = received.notification.transactionIdentifier
                let original = received.notification.originalTransactionIdentifier
                Shown.lines(
                    Shown.identifier(transaction),
                    original.flatMap { $0 == transaction ? nil : spaced(Phrase("Original"), Shown.identifier($0)) })
            }
            column("Customer") { $0.customerLink }
            if hasSeveralApps { column("App") { Shown.identifier($0.app) } }
        }
    }

    /// The address that App Store Connect needs for notifications, and the last one that arrived.
    ///
    /// - Parameter authority: The host and port by which the browser reaches the service.
    private func address(_ authority: String, last: ReceivedNotification?) -> HTML {
        card("Address for App Store Connect") {
            Shown.copyable("notification-address", "https://\(authority)/v1/notifications/apple")
            note(
                "App Store Connect: App Information, App Store Server Notifications, version 2, for production and sandbox. Apple must reach this address over the internet with a valid certificate."
            )
            if services.store != nil { note("The local App Store sends its notifications here by itself.") }
            p {
                if let last {
                    spaced(by: ": ", Phrase("Last received"), Shown.moment(last.notification.receivedAt))
                    also(Shown.origin(last.notification.origin), by: " · ")
                } else {
                    Shown.badge("No notification was ever received", .warning)
                }
            }
        }
    }
}

extension ConsolePath {
    static func notification(_ identifier: String, _ origin: Origin) -> ConsolePath {
        ConsolePath("app-store", "notification", query: ["uuid": identifier, "origin": origin.rawValue])
    }

    static func notification(_ notification: StatedNotification) -> ConsolePath {
        .notification(notification.notificationUUID, notification.origin)
    }
}

extension ReceivedNotification {
    var customerLink: HTML? { owner.map { Shown.link(to: $0) } }
}

extension StatedNotification {
    var title: String { [type, subtype].compactMap(\.self).joined(separator: " ") }
}

enum NotificationWords {
    /// The marks of a notification that came late or more than once.
    @HTMLBuilder static func marks(_ received: ReceivedNotification) -> HTML {
        if received.isLate { Shown.badge("Late", .warning) }
        if received.repeatedAt != nil { also(Shown.badge("Repeated")) }
    }

    /// The event that a type reports; nil for a type that this version does not know.
    static func meaning(ofType type: String) -> Phrase? {
        NotificationTypeV2(rawValue: type).map(meaning) ?? playMeanings.first { $0.key == type }?.value
    }

    /// The known types of both stores.
    static let types = (NotificationTypeV2.allCases.map(\.rawValue) + playMeanings.map(\.key)).sorted()

    /// The types of Google Play, in the words of its reference.
    private static let playMeanings: KeyValuePairs<String, Phrase> = [
        "ONE_TIME_PRODUCT_CANCELED": "A pending payment was canceled.",
        "ONE_TIME_PRODUCT_PURCHASED": "A customer bought a product once.",
        "PENDING_REFUND_REVIEW": "Google Play asks about a purchase before it decides on a refund.",
        "SUBSCRIPTION_CANCELED": "A customer turned renewal on or off.",
        "SUBSCRIPTION_CANCELLATION_SCHEDULED": "The end of a subscription was scheduled.",
        "SUBSCRIPTION_DEFERRED": "The renewal date was extended.",
        "SUBSCRIPTION_EXPIRED": "A subscription expired.",
        "SUBSCRIPTION_IN_GRACE_PERIOD": "A renewal could not be charged.",
        "SUBSCRIPTION_ITEMS_CHANGED": "A customer chose another plan for the renewal.",
        "SUBSCRIPTION_ON_HOLD": "A grace period ended without a payment.",
        "SUBSCRIPTION_PAUSED": "A subscription was paused.",
        "SUBSCRIPTION_PAUSE_SCHEDULE_CHANGED": "The pause of a subscription was changed.",
        "SUBSCRIPTION_PENDING_PURCHASE_CANCELED": "A pending payment was canceled.",
        "SUBSCRIPTION_PRICE_CHANGE_CONFIRMED": "A customer consented to a higher price.",
        "SUBSCRIPTION_PRICE_CHANGE_UPDATED": "The price of a subscription changed.",
        "SUBSCRIPTION_PRICE_STEP_UP_CONSENT_UPDATED": "A customer was asked about a higher price.",
        "SUBSCRIPTION_PURCHASED": "A customer subscribed, or came back.",
        "SUBSCRIPTION_RECOVERED": "A missing payment arrived.",
        "SUBSCRIPTION_RENEWED": "A subscription renewed.",
        "SUBSCRIPTION_RESTARTED": "A customer turned renewal on or off.",
        "SUBSCRIPTION_REVOKED": "A purchase was taken back before its end.",
        "VOIDED_PURCHASE": "A purchase was refunded or charged back.",
    ]

    private static func meaning(_ type: NotificationTypeV2) -> Phrase {
        switch type {
        case .subscribed: "A customer subscribed, or came back."
        case .didChangeRenewalPref: "A customer chose another plan for the renewal."
        case .didChangeRenewalStatus: "A customer turned renewal on or off."
        case .offerRedeemed: "A customer redeemed an offer."
        case .didRenew: "A subscription renewed."
        case .expired: "A subscription expired."
        case .didFailToRenew: "A renewal could not be charged."
        case .gracePeriodExpired: "A grace period ended without a payment."
        case .priceIncrease: "A customer was asked about a higher price."
        case .refund: "The App Store refunded a purchase."
        case .refundDeclined: "The App Store declined a refund."
        case .consumptionRequest: "The App Store asks about a purchase before it decides on a refund."
        case .renewalExtended: "The renewal date was extended."
        case .revoke: "A family no longer shares the purchase."
        case .test: "A test that you requested."
        case .renewalExtension: "An extension of many renewal dates was processed."
        case .refundReversed: "The App Store reversed a refund."
        case .externalPurchaseToken: "A token for external purchases was created."
        case .oneTimeCharge: "A customer bought a product once."
        case .rescindConsent: "A parent withdrew the consent."
        case .metadataUpdate: "The metadata of a subscription changed."
        case .migration: "A subscription was migrated."
        case .priceChange: "The price of a subscription changed."
        case .unclaimSeats: "Seats of a subscription were unclaimed."
        }
    }
}

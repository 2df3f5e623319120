import AppStore
import Catalog
import Entitlements
import Foundation
import Proofs
import Testing
import Vocabulary

/// Purchases of both stores in a ledger, with everything that proves them. Whoever presents a token or a proof may get its purchase, so no
/// answer, page or log line has one, except that of the request itself.
package struct SecretPurchases: Sendable {
    /// The purchase tokens, the proofs and their signatures.
    package private(set) var secrets: [String] = []
    /// The identifiers that answers show instead: names of tokens, orders and transactions.
    package private(set) var identifiers: [String] = []
    /// The proof of a purchase that nobody has redeemed.
    package private(set) var fresh = ""
    /// The transaction of a one-time purchase of the user at Google Play.
    package private(set) var owned = ""
    /// A transaction of the App Store that a notification has told, and that nobody has redeemed.
    package private(set) var unclaimed = ""

    /// The received notifications of the App Store.
    package private(set) var notifications: [String] = []

    private let garden: TestGarden
    private let service: EntitlementService
    private let user: User
    private let key: PrivateKey
    private let purchases: GooglePurchaseService
    private let names: PurchaseTokenNames

    /// The key of the app at a local Google Play.
    package static func appKey(_ key: PrivateKey) -> AppKey {
        AppKey(packageName: TestGarden.bundleIdentifier, publicKey: key.publicKey, realm: .localPlay)
    }

    /// Adds purchases of a user, parked ones, and refusals of another user.
    ///
    /// - Parameters:
    ///   - service: A service that sells the garden, and trusts its store and `appKey`.
    ///   - name: A part of the tokens, which differs for each user.
    package init(
        of user: User, named name: String, in service: EntitlementService, at garden: TestGarden,
        signedBy key: PrivateKey
    ) async throws {
        (self.garden, self.service, self.user, self.key) = (garden, service, user, key)
        purchases = GooglePurchaseService(
            entitlements: service, app: App(garden.catalog), packageName: TestGarden.bundleIdentifier,
            origins: [.localPlayProduction, .localPlayTest])
        names = try await purchases.tokenNames
        try await buyAtPlay(name)
        try await sign(name)
        try await buyAtAppStore(name)
    }

    /// A secret token of Google Play.
    ///
    /// - Parameter isShown: False for one whose name identifies no transaction.
    private mutating func token(_ text: String, isShown: Bool = true) -> String {
        let token = "secret-\(text).AO-J1Oz\(text.utf8.count)x"
        secrets.append(token)
        if isShown { identifiers.append(names.name(of: token)) }
        return token
    }

    /// One-time purchases with and without an order, a subscription and its successor, one of nobody, a pending one, and a voided one.
    private mutating func buyAtPlay(_ name: String) async throws {
        let (now, end) = (service.clock.now().rfc3339, service.clock.now().adding(days: 30).rfc3339)
        func product(_ token: String, _ product: String, order: String?, state: String = "PURCHASED") throws
            -> GooglePlayStatement
        {
            let paid = state == "PENDING" ? "" : #","purchaseCompletionTime":"\#(now)""#
            let text = """
                {"productLineItem":[{"productId":"\(product)","productOfferDetails":{"quantity":2}}],
                "purchaseStateContext":{"purchaseState":"\(state)"}\(paid)
                \(order.map { #","orderId":"\#($0)""# } ?? "")}
                """
            return try statement(
                GooglePlayAnswer(product: Array(text.utf8), about: token, of: TestGarden.bundleIdentifier))
        }
        func subscription(_ token: String, _ product: String, order: String, replacing old: String? = nil) throws
            -> GooglePlayStatement
        {
            let text = """
                {"subscriptionState":"SUBSCRIPTION_STATE_ACTIVE","startTime":"\(now)","regionCode":"US",
                "lineItems":[{"productId":"\(product)","autoRenewingPlan":{"autoRenewEnabled":true},
                "expiryTime":"\(end)","latestSuccessfulOrderId":"\(order)"}]
                \(old.map { #","linkedPurchaseToken":"\#($0)""# } ?? "")}
                """
            return try statement(
                GooglePlayAnswer(subscription: Array(text.utf8), about: token, of: TestGarden.bundleIdentifier))
        }
        let (old, new) = (token("old-\(name)"), token("new-\(name)", isShown: false))
        let orders = (1...4).map { "GPA.\($0)000-\(name)" }
        identifiers += orders
        let (seeds, gate) = (token("seeds-\(name)"), token("gate-\(name)"))
        owned = names.name(of: gate)
        for (stated, original) in [
            (try product(gate, "garden.gate", order: orders[0]), nil),
            (try product(token("season-\(name)"), "garden.season", order: nil), nil),
            (try product(seeds, "garden.seeds", order: orders[1]), nil),
            (try subscription(old, "garden.basic.monthly", order: orders[2]), nil),
            (try subscription(new, "garden.premium.monthly", order: orders[3], replacing: old), old),
        ] as [(GooglePlayStatement, String?)] {
            let recorded = try await purchases.record(stated, continuing: original, number: nil)
            let presented = try #require(try await purchases.purchases(of: stated, recordedAs: recorded))
            _ = try await service.redeem(presented, for: user)
            let mallory = try #require(User(name: "mallory"))
            _ = try await service.redeem(presented, for: mallory)
        }
        let parked = try product(token("parked-\(name)"), "garden.gate", order: nil)
        let notice = #"{"version":"1.0","packageName":"a","oneTimeProductNotification":{"purchaseToken":"\#(seeds)"}}"#
        let notification = NotificationRecord(
            app: TestGarden.bundleIdentifier, origin: .localPlayProduction, notificationUUID: "notice-\(name)",
            type: "ONE_TIME_PRODUCT_PURCHASED", subtype: nil, signedAt: service.clock.now(),
            proofDigest: [UInt8](repeating: 3, count: 32), content: try Self.content(of: notice))
        _ = try await purchases.apply(
            parked, recordedAs: try await purchases.record(parked, continuing: nil, number: nil),
            notifiedBy: notification)
        _ = try await purchases.record(
            product(token("pending-\(name)", isShown: false), "garden.gate", order: nil, state: "PENDING"),
            continuing: nil, number: nil
        )
        let voided = """
            {"voidedPurchases":[{"purchaseToken":"\(seeds)","orderId":"\(orders[1])","voidedQuantity":1,
            "voidedTimeMillis":"\(service.clock.now().millisecondsSince1970)"}]}
            """
        for purchase in try VoidedGooglePlayPurchases(Array(voided.utf8)).purchases {
            _ = try await purchases.apply(purchase)
        }
    }

    /// The content of a notification of Google Play as the ledger keeps it.
    private static func content(of notice: String) throws -> String {
        let data = notice.replacing(
            #""oneTimeProductNotification":{"#, with: #""oneTimeProductNotification":{"notificationType":1,"#
        ).replacing(
            #""packageName":"a""#, with: #""packageName":"\#(TestGarden.bundleIdentifier)","eventTimeMillis":"1""#)
        return try GooglePlayNotification(json: Array(data.utf8)).content
    }

    private func statement(_ answer: GooglePlayAnswer) -> GooglePlayStatement {
        answer.statement(.init(realm: .localPlay, askedAt: service.clock.now(), named: names))
    }

    /// A signed purchase without an order.
    private mutating func sign(_ name: String) async throws {
        let token = token("signed-\(name)")
        let signed = try TestPurchase(of: "garden.gate", by: key, token: token, changing: [("orderId", nil)])
        secrets.append(String(decoding: signed.signed.signature, as: UTF8.self))
        _ = try await service.redeem(Array(signed.text.utf8), for: user)
    }

    private mutating func buyAtAppStore(_ name: String) async throws {
        for product in ["garden.seeds", "garden.premium.monthly", "garden.gate"] {
            let bought = try garden.buy(product, account: name)
            let proof = try garden.store.signedTransaction(bought.identifier)
            identifiers.append(try #require(bought.purchase?.transactionIdentifier))
            add(proof)
            _ = try await service.redeem(Array(proof.utf8), for: user)
            _ = try? await service.redeem(Array(proof.utf8), for: #require(User(name: "mallory")))
        }
        let parked = try garden.buy("garden.basic.monthly", account: "nobody-\(name)")
        unclaimed = try #require(parked.purchase?.transactionIdentifier)
        identifiers.append(unclaimed)
        for notification in try garden.store.notifications() {
            add(notification.signedPayload)
            notifications.append(notification.signedPayload)
            _ = try await service.receive(notification: Array(notification.signedPayload.utf8))
        }
        let receipt = try garden.store.receipt(account: name)
        secrets.append(receipt)
        _ = try await service.redeem(Array(receipt.utf8), for: user)
        fresh = try garden.store.signedTransaction(
            try garden.buy("garden.season", account: "fresh-\(name)").identifier)
    }

    /// Adds a signed JSON, and those inside it. Its signature alone is secret, too: the other parts can be made again.
    private mutating func add(_ proof: String) {
        let parts = proof.split(separator: ".")
        guard parts.count == 3, let payload = Base64.decode(parts[1].utf8, .urlSafe) else { return }
        secrets += [proof, String(parts[2])]
        if let signature = Base64.decode(parts[2].utf8, .urlSafe) { secrets.append(signature.hexadecimal) }
        guard case .object(let object)? = try? JSONParser.parse(payload), case .object(let data)? = object["data"]
        else { return }
        for name in ["signedTransactionInfo", "signedRenewalInfo"] {
            if let inner = data.text(name) { add(inner) }
        }
    }
}

extension SecretPurchases {
    /// The secrets in a text that its request does not have.
    package func leaked(in text: String, to request: String) -> [String] {
        secrets.filter { text.contains($0) && !request.contains($0) }.map { String($0.prefix(40)) }
    }
}

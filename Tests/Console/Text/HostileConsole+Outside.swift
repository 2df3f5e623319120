import Entitlements
import Foundation
import Proofs
import Testing
import Vocabulary

/// The texts in signed statements, in proofs that nobody signed, and in forms that refuse them.
extension HostileConsole {
    private static let short = HostileTexts.Limit.bytes(120)

    /// Records a redeemed purchase, an unclaimed one, a refused one, and a notification.
    mutating func fillLedger(_ owner: User, _ other: User) async throws {
        let now = fixture.shop.clock.now()
        let (redeemed, parked, refused) = (claim("redeemed"), claim("unclaimed"), claim("refused"))
        var content = JSONObject()
        _ = content.add(
            shownText("key of a notification", .lines, Self.short),
            .array([.string(shownText("content of a notification", .lines, .bytes(2000)))]))
        let record = NotificationRecord(
            app: fixture.shop.catalog.bundleIdentifier, origin: .localSandbox,
            notificationUUID: shownText("identifier of a notification", .line, Self.short),
            type: shownText("type of a notification", .line, Self.short),
            subtype: shownText("subtype of a notification", .line, Self.short), signedAt: now,
            proofDigest: [UInt8](repeating: 8, count: 32), content: JSONValue.object(content).compactText)
        _ = try await fixture.ledger.write {
            try $0.decide(
                [
                    .redeem(PresentedClaims([redeemed], for: owner, accepting: [.localSandbox], by: .user)),
                    .notify(record, stating: parked),
                ], under: .keep, accepting: AcceptedOrigins(), at: now)
        }
        try await fixture.ledger.write {
            try $0.recordRefusal(
                "bundleIdentifierMismatch", of: [refused], in: refused.app, for: other, by: .user, at: now)
        }
        let expected = ExpectedPurchase(
            app: fixture.shop.catalog.bundleIdentifier, origin: .localSandbox,
            originalTransactionIdentifier: shownText("identifier of an expected transaction", .name, Self.short),
            productIdentifier: shownText("product of an expected transaction", .line, Self.short), purchaseDate: now,
            expiresAt: nil)
        _ = try await fixture.ledger.write {
            try $0.add(imported: owner, purchases: [expected], by: "process", at: now)
        }
        paths += [
            "/console/invitation", "/console/refusals/bundleIdentifierMismatch",
            "/console/unclaimed/" + HostileText.encode(parked.transactionIdentifier),
            "/console/customers?search=" + HostileText.encode(redeemed.transactionIdentifier),
        ]
    }

    /// A purchase of a product that the catalog does not have.
    private mutating func claim(_ kind: String) -> Claim {
        let now = fixture.shop.clock.now()
        let transaction = shownText("identifier of a \(kind) transaction", .name, Self.short)
        var facts = TransactionFacts()
        facts[.storefront] = .text(texts.next("storefront of a \(kind) transaction", .line, Self.short).text)
        facts[.offerIdentifier] = .text(texts.next("offer of a \(kind) transaction", .line, Self.short).text)
        return Claim(
            app: fixture.shop.catalog.bundleIdentifier, origin: .localSandbox, transactionIdentifier: transaction,
            originalTransactionIdentifier: transaction,
            productIdentifier: shownText("product of a \(kind) transaction", .line, Self.short), quantity: 1,
            purchaseDate: now, revocationDate: nil, signedAt: now, proofDigest: [UInt8](repeating: 9, count: 32),
            item: Item(collection: texts.next("collection of a \(kind) item", .line, .bytes(64)).text, number: 1),
            facts: facts)
    }

    /// Shows a proof that nobody signed to the inspector.
    mutating func fillProofs() async throws {
        let limit = HostileTexts.Limit.bytes(1000)
        var header = JSONObject()
        _ = header.add("alg", .string(shownText("algorithm of a proof", .lines, Self.short)))
        _ = header.add("x5c", .array([.string(texts.next("certificate of a proof", .lines, limit).text)]))
        _ = header.add(
            shownText("key of a proof's header", .lines, Self.short),
            .string(shownText("value of a proof's header", .lines, limit)))
        var inner = JSONObject()
        _ = inner.add("productId", .string(shownText("product of a proof", .lines, .bytes(250))))
        var payload = JSONObject()
        _ = payload.add("bundleId", .string(shownText("app of a proof", .lines, limit)))
        _ = payload.add("purchases", .array([.object(inner), .string(shownText("element of a proof", .lines, limit))]))
        _ = payload.add("long", .string(texts.next("long text of a proof", .lines, .bytes(5000)).text))
        let parts = [header, payload].map { part in
            Data(JSONValue.object(part).compactText.utf8).base64EncodedString().replacing("+", with: "-")
                .replacing("/", with: "_").replacing("=", with: "")
        }
        let page = "/console/proofs"
        try await send(page, ["proof": (parts + ["AAAA"]).joined(separator: ".")], from: page, expecting: 200)
        try await send(
            page, ["proof": texts.next("text that is no proof", .lines, limit).text], from: page, expecting: 200)
    }

    /// Sends texts to fields that refuse them.
    mutating func fillRefusedForms(_ user: User) async throws {
        let page = "/console/customers/-/" + HostileText.encode(user.name)
        let give = try #require(
            try await browser.get(page).value(of: "submission", inFormTo: page + "/grants"))
        let hidden = texts.next("refused reason", .line, .bytes(500), startingWith: "\u{202E}").text
        for fields in [
            ["give-item": "sprout 3", "give-reason": hidden],
            ["give-item": texts.next("refused item", .line, .bytes(256)).text, "give-reason": "a prize"],
        ] {
            try await send(
                page + "/grants", fields.merging(["submission": give]) { $1 }, from: page, expecting: 422)
        }
        try await send(
            page + "/erasure", ["erase-name": texts.next("refused confirmation", .line, .bytes(128)).text], from: page,
            expecting: 422)
        let member = texts.next("refused name of a member", .line, .bytes(64), startingWith: "\u{202E}").text
        try await send(
            "/console/team/members", ["name": member, "role": "viewer"], from: "/console/team", expecting: 422)
        let address = texts.next("refused address", .line, .bytes(2000), startingWith: "https://a.example/\"").text
        try await send("/console/webhooks", ["url": address], from: "/console/webhooks", expecting: 422)
        try await fillRefusedProducts()
    }
}

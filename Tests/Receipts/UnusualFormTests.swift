import Proofs
import TestSupport
import Testing

/// Authentic statements with fields in forms that Apple has not documented.
///
/// The store's signature is the authority: a field that no decision needs never costs a customer the purchase.
@Suite struct UnusualFormTests {
    /// The result of a field in an unusual form, with its letter in `outcomes`.
    enum Outcome: Character {
        /// The statement is accepted. Where the field is a fact, the fact is stored.
        case kept = "k"
        /// The statement is accepted, and the field equals a missing one.
        case absent = "a"
        /// The same, and the field is counted.
        case noted = "n"
        /// The statement is refused as `payloadInvalid`.
        case refused = "r"
    }

    /// The forms, in the order of the letters in `outcomes`.
    static let forms: [(name: String, value: JSONValue?)] = [
        ("missing", nil), ("null", .null), ("empty", ""), ("unknown text", "SOMETHING_NEW"),
        ("text with NUL", "a\u{0}b"), ("fraction", number("1780000000000.5")),
        ("huge number", number("123456789012345678901234567890")), ("beyond a double", number("1e400")),
        ("boolean", .bool(true)), ("list", .array([.integer(1)])), ("object", .object(["new": .integer(1)])),
    ]

    enum Kind: CaseIterable {
        case requiredText, decidingText, text, requiredDate, decidingDate, date, quantity, decidingNumber, number, flag
        case token, texts, object, subject
    }

    /// The table of all outcomes: for each kind of field a row, for each form a letter.
    static let outcomes: [Kind: String] = [
        .requiredText: "rrrkrrrrrrr",
        .decidingText: "aaakrrrrrrr",
        .text: "aaaknkkknnn",
        .requiredDate: "rrrrrkrrrrr",
        .decidingDate: "aaarrkrrrrr",
        .date: "aaannknnnnn",
        .quantity: "aaarrrrrrrr",
        .decidingNumber: "aaarrrrrrrr",
        .number: "aaannnnnnnn",
        .flag: "aaannnnnknn",
        .token: "aaannnnnnnn",
        .texts: "aaannnnnnnn",
        .object: "aaannnnnnnk",
        // A notification without a subject says nothing that could be stored.
        .subject: "rrrrrrrrrrr",
    ]

    static let transaction: [String: Kind] = [
        "transactionId": .requiredText, "originalTransactionId": .decidingText, "webOrderLineItemId": .text,
        "bundleId": .requiredText, "productId": .requiredText, "subscriptionGroupIdentifier": .text,
        "purchaseDate": .requiredDate, "originalPurchaseDate": .date, "expiresDate": .decidingDate,
        "quantity": .quantity, "type": .text, "appAccountToken": .token, "inAppOwnershipType": .decidingText,
        "signedDate": .requiredDate, "revocationReason": .number, "revocationDate": .decidingDate,
        "revocationType": .text, "revocationPercentage": .number, "isUpgraded": .flag, "offerType": .number,
        "offerIdentifier": .text, "offerDiscountType": .text, "offerPeriod": .text, "environment": .requiredText,
        "storefront": .text, "storefrontId": .text, "transactionReason": .text, "currency": .text, "price": .number,
        "appTransactionId": .text, "billingPlanType": .text, "commitmentInfo": .object,
        "advancedCommerceInfo": .object, "multiSeatInfo": .object, "additionalTransactionReason": .text,
        "previousOriginalTransactionId": .text,
    ]

    static let renewalInfo: [String: Kind] = [
        "originalTransactionId": .requiredText, "expirationIntent": .number, "autoRenewProductId": .text,
        "productId": .text, "autoRenewStatus": .number, "isInBillingRetryPeriod": .flag,
        "priceIncreaseStatus": .number, "gracePeriodExpiresDate": .decidingDate, "offerType": .number,
        "offerIdentifier": .text, "offerDiscountType": .text, "offerPeriod": .text, "signedDate": .requiredDate,
        "environment": .requiredText, "recentSubscriptionStartDate": .date, "renewalDate": .date, "currency": .text,
        "renewalPrice": .number, "renewalQuantity": .number, "multiSeatInfo": .object,
        "eligibleWinBackOfferIds": .texts, "appAccountToken": .token,
        "appTransactionId": .text, "renewalBillingPlanType": .text, "commitmentInfo": .object,
        "advancedCommerceInfo": .object,
    ]

    static let appTransaction: [String: Kind] = [
        "bundleId": .requiredText, "receiptType": .requiredText, "receiptCreationDate": .requiredDate,
        "appAppleId": .decidingNumber, "applicationVersion": .text, "versionExternalIdentifier": .number,
        "originalPurchaseDate": .date, "originalApplicationVersion": .text, "deviceVerification": .text,
        "deviceVerificationNonce": .token, "preorderDate": .date, "appTransactionId": .text,
        "originalPlatform": .text,
    ]

    static let notification: [String: Kind] = [
        "notificationType": .requiredText, "subtype": .text, "notificationUUID": .requiredText, "version": .text,
        "signedDate": .requiredDate, "data": .subject,
    ]

    /// The parts of notifications, by the field of the part.
    static let notificationParts: [String: [String: Kind]] = [
        "data": [
            "environment": .requiredText, "appAppleId": .decidingNumber, "bundleId": .decidingText,
            "bundleVersion": .text, "status": .number, "consumptionRequestReason": .text,
        ],
        "summary": [
            "environment": .requiredText, "appAppleId": .decidingNumber, "bundleId": .decidingText,
            "productId": .text, "requestIdentifier": .text, "storefrontCountryCodes": .texts,
            "succeededCount": .number, "failedCount": .number,
        ],
        "appData": [
            "environment": .requiredText, "appAppleId": .decidingNumber, "bundleId": .decidingText,
        ],
        "externalPurchaseToken": [
            "externalPurchaseId": .requiredText, "tokenCreationDate": .number, "appAppleId": .decidingNumber,
            "bundleId": .decidingText,
        ],
        "unclaimInfo": [
            "environment": .decidingText, "appAppleId": .decidingNumber, "bundleId": .decidingText,
            "unclaimSeatIds": .texts,
        ],
    ]

    private static func number(_ text: String) -> JSONValue {
        (try? JSONParser.parse(Array(text.utf8))) ?? .null
    }

    private static let subscription = TestProofs.transactionPayload(changing: [
        "type": "Auto-Renewable Subscription",
        "expiresDate": .integer(TestProofs.signedAt.adding(days: 30).millisecondsSince1970),
    ])

    private static let renewal: JSONObject = [
        "originalTransactionId": "1", "autoRenewProductId": "p", "autoRenewStatus": .integer(1),
        "environment": "Sandbox", "signedDate": .integer(TestProofs.signedAt.millisecondsSince1970),
    ]

    private static let app: JSONObject = [
        "receiptType": "Sandbox", "bundleId": "b",
        "receiptCreationDate": .integer(TestProofs.signedAt.millisecondsSince1970),
    ]

    private let chain: CertificateChain
    private let verifier: ProofVerifier

    init() throws {
        chain = try TestChains.ellipticCurve.get()
        verifier = ProofVerifier(anchors: try TestChains.anchors(chain), clock: ManualClock())
    }

    /// Verifies a payload; nil if it is refused as invalid.
    private func verify(_ payload: JSONObject) throws -> VerifiedProof? {
        do {
            return try verifier.verify(
                try TestProofs.transaction(payload, chain: chain),
                expecting: ProofExpectations(origins: Set(Origin.allCases)))
        } catch let refusal as ProofRefusal {
            #expect(refusal.reason == .payloadInvalid)
            return nil
        }
    }

    /// Puts each form into a field and compares the outcome with the table.
    ///
    /// - Parameters:
    ///   - isFact: Returns nil if the field is no fact, or if its fact is stored.
    private func expect(
        _ field: String,
        _ kind: Kind,
        in payload: (JSONValue?) -> JSONObject,
        isFact: (VerifiedProof) -> Bool? = { _ in nil }
    ) throws {
        let row = try #require(Self.outcomes[kind])
        #expect(row.count == Self.forms.count)
        for (form, letter) in zip(Self.forms, row) {
            let expected = try #require(Outcome(rawValue: letter))
            let proof = try verify(payload(form.value))
            let comment: Comment = "\(field), \(form.name)"
            #expect((proof == nil) == (expected == .refused), comment)
            guard let proof else { continue }
            #expect(proof.unreadableFields == (expected == .noted ? [field] : []), comment)
            if let isStored = isFact(proof) { #expect(isStored == (expected == .kept), comment) }
        }
    }

    private func fact<Fact: StatedFact>(_ field: String, in facts: StatedFacts<Fact>?) -> Bool? {
        guard let facts, let fact = Fact.allCases.first(where: { "\($0)" == field }) else { return nil }
        return facts[fact] != nil
    }

    @Test(arguments: transaction.keys.sorted())
    func `a field of a transaction`(field: String) throws {
        let kind = try #require(Self.transaction[field])
        guard field != "environment" else { return try expectEnvironment { Self.subscription.setting(field, $0) } }
        try expect(field, kind, in: { Self.subscription.setting(field, $0) }) {
            fact(field, in: $0.purchases?.first?.facts)
        }
    }

    @Test(arguments: renewalInfo.keys.sorted())
    func `a field of renewal information`(field: String) throws {
        let kind = try #require(Self.renewalInfo[field])
        guard field != "environment" else { return try expectEnvironment { Self.renewal.setting(field, $0) } }
        try expect(field, kind, in: { Self.renewal.setting(field, $0) }) { fact(field, in: $0.renewal?.facts) }
    }

    @Test(arguments: appTransaction.keys.sorted())
    func `a field of an app transaction`(field: String) throws {
        let kind = try #require(Self.appTransaction[field])
        guard field != "receiptType" else { return try expectEnvironment { Self.app.setting(field, $0) } }
        try expect(field, kind, in: { Self.app.setting(field, $0) })
    }

    @Test(arguments: notification.keys.sorted())
    func `a field of a notification`(field: String) throws {
        let base = try #require(Self.notification(about: "data"))
        try expect(field, try #require(Self.notification[field]), in: { base.setting(field, $0) })
    }

    @Test(arguments: notificationParts.keys.sorted())
    func `a field of a part of a notification`(part: String) throws {
        let base = try #require(Self.notification(about: part))
        guard case .object(let object)? = base[part] else { return }
        for (field, kind) in try #require(Self.notificationParts[part]) {
            let payload = { base.setting(part, .object(object.setting(field, $0))) }
            switch (part, field) {
            // Apple documents no environment here.
            case ("unclaimInfo", "environment"): #expect(try verify(payload(nil)) != nil)
            case (_, "environment"): try expectEnvironment(payload)
            default: try expect(field, kind, in: payload)
            }
        }
        // Without its transaction, a notification would be answered and lost.
        for field in ["signedTransactionInfo", "signedRenewalInfo"] where part == "data" {
            #expect(try verify(base.setting(part, .object(object.setting(field, .integer(1))))) == nil)
            #expect(try verify(base.setting(part, .object(object.setting(field, "")))) != nil)
        }
    }

    private static func notification(about part: String) -> JSONObject? {
        let object: JSONObject? =
            switch part {
            case "data", "summary", "appData", "unclaimInfo": ["environment": "Sandbox", "bundleId": "b"]
            case "externalPurchaseToken": ["externalPurchaseId": "SANDBOX_1", "bundleId": "b"]
            default: nil
            }
        return object.map {
            [
                "notificationType": "TEST", "notificationUUID": "u",
                "signedDate": .integer(TestProofs.signedAt.millisecondsSince1970), part: .object($0),
            ]
        }
    }

    /// An environment decides the origin of a proof, so no form but Apple's names is accepted.
    private func expectEnvironment(_ payload: (JSONValue?) -> JSONObject) throws {
        for form in Self.forms { #expect(try verify(payload(form.value)) == nil, "\(form.name)") }
        #expect(try verify(payload("Sandbox")) != nil)
    }

    /// Every field of an inner object is without influence on decisions, also one that Apple documents as required.
    @Test func `a field of an inner object never costs the purchase`() throws {
        let offer: JSONObject = [
            "period": "P1M", "periodCount": .integer(1), "price": .integer(1), "reason": "ACQUISITION",
        ]
        let info: JSONObject = [
            "descriptors": .object(["description": "d", "displayName": "n"]), "estimatedTax": .integer(1),
            "items": .array([
                .object([
                    "SKU": "s", "description": "d", "displayName": "n", "offer": .object(offer),
                    "price": .integer(1),
                    "refunds": .array([
                        .object(["refundAmount": .integer(1), "refundDate": .integer(1), "refundReason": "LEGAL"])
                    ]), "revocationDate": .integer(1),
                    "priceIncreaseInfo": .object(["dependentSKUs": .array(["s"]), "price": .integer(1)]),
                ])
            ]), "period": "P1M", "requestReferenceId": "r", "taxCode": "t", "taxExclusivePrice": .integer(1),
            "taxRate": "0",
        ]
        let commitment: JSONObject = [
            "billingPeriodNumber": .integer(1), "commitmentExpiresDate": .integer(1), "commitmentPrice": .integer(1),
            "totalBillingPeriods": .integer(12), "commitmentAutoRenewProductId": "p",
            "commitmentAutoRenewStatus": .integer(1), "commitmentRenewalDate": .integer(1),
        ]
        let seats: JSONObject = [
            "invitationManagement": "APPLE", "revokedSeatQuantity": .integer(1),
            "priceTiers": .array([.object(["price": .integer(1), "quantity": .integer(1)])]),
        ]
        for (field, object) in [
            ("advancedCommerceInfo", info), ("commitmentInfo", commitment), ("multiSeatInfo", seats),
        ] {
            for variant in JSONValue.object(object).variants(Self.forms.map(\.value)) {
                for base in [Self.subscription, Self.renewal] {
                    #expect(try verify(base.setting(field, variant)) != nil, "\(variant.compactText)")
                }
            }
        }
    }

    @Test func `the tables have every field that is read`() throws {
        func fields(_ content: Any) -> Set<String> {
            Set(Mirror(reflecting: content).children.compactMap(\.label)).subtracting(["facts", "fields", "body"])
        }
        guard case .transaction(let transaction)? = try verify(Self.subscription)?.content,
            case .renewalInfo(let renewal)? = try verify(Self.renewal)?.content,
            case .appTransaction(let app)? = try verify(Self.app)?.content
        else {
            Issue.record("another kind of proof")
            return
        }
        let signed = TransactionFact.allCases.filter { ![.appReceipts, .googlePlay].contains($0.field.source) }.map(
            \.rawValue)
        #expect(fields(transaction).union(signed) == Set(Self.transaction.keys))
        let renewed = RenewalFact.allCases.filter { $0.field.source != .googlePlay }.map(\.rawValue)
        #expect(fields(renewal).union(renewed) == Set(Self.renewalInfo.keys))
        #expect(fields(app) == Set(Self.appTransaction.keys))
        for (part, table) in Self.notificationParts {
            guard let payload = Self.notification(about: part),
                case .notification(let notification)? = try verify(payload)?.content
            else {
                Issue.record("no notification of \(part)")
                continue
            }
            let ofPart: Set = ["subject", "environment", "appAppleId", "bundleId", "signedParts"]
            #expect(fields(notification).subtracting(ofPart) == Set(Self.notification.keys).subtracting(["data"]))
            #expect(notification.subject.rawValue == part)
            let environment = part == "externalPurchaseToken" ? "externalPurchaseId" : "environment"
            let read = [environment, "appAppleId", "bundleId"] + notification.subject.otherFields.keys
            #expect(Set(read) == Set(table.keys))
        }
    }

    @Test(arguments: ["Consumable", "Non-Consumable", "Non-Renewing Subscription"])
    func `the end of a purchase without an end decides nothing`(type: String) throws {
        let base = TestProofs.transactionPayload(changing: ["type": .string(type)])
        try expect("expiresDate", .date, in: { base.setting("expiresDate", $0) })
    }

    @Test func `a signed transaction does not state what only app receipts state`() throws {
        let fields = Self.subscription.setting("isTrialPeriod", .bool(true)).setting("itemId", .integer(1))
            .setting("isInIntroOfferPeriod", .bool(true)).setting("isInIntroductoryOfferPeriod", .bool(true))
        let facts = try #require(try verify(fields)?.purchases?.first?.facts)
        #expect(facts.values.keys.allSatisfy { $0.field.source != .appReceipts })
        #expect(facts.bool(.isTrialPeriod) == nil && facts.integer(.itemId) == nil)
    }

    @Test func `a fact keeps the text of a number, and other spellings of true and false`() throws {
        let proof = try verify(
            Self.subscription.setting("webOrderLineItemId", .integer(123456)).setting("isUpgraded", "false")
                .setting("price", Self.number("4990.0")))
        let facts = try #require(proof?.purchases?.first?.facts)
        #expect(facts.text(.webOrderLineItemId) == "123456")
        #expect(facts.bool(.isUpgraded) == false && facts.integer(.price) == 4990)
    }
}

extension JSONObject {
    /// The object with another value of a key, or without the key.
    fileprivate func setting(_ key: String, _ value: JSONValue?) -> JSONObject {
        var object = JSONObject()
        for member in members where member.key != key { _ = object.add(member.key, member.value) }
        if let value { _ = object.add(key, value) }
        return object
    }
}

extension JSONValue {
    /// The value with each of its inner values replaced by each form, one at a time.
    fileprivate func variants(_ forms: [JSONValue?]) -> [JSONValue] {
        switch self {
        case .object(let object):
            object.members.flatMap { member in
                forms.map { .object(object.setting(member.key, $0)) }
                    + member.value.variants(forms).map { .object(object.setting(member.key, $0)) }
            }
        case .array(let elements):
            elements.flatMap { $0.variants(forms).map { .array([$0]) } } + forms.compactMap { $0.map { .array([$0]) } }
        default: []
        }
    }
}

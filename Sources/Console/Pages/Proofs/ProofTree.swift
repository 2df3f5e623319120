import Proofs

/// The decoded values of a proof, as nested lists.
enum ProofTree {
    /// The maximum lengths of a text and of bytes that are shown.
    private static let maximumTextLength = 2000
    private static let maximumByteCount = 64
    /// The maximum number of open lists at one level. More are shown when the reader opens them.
    private static let maximumOpen = 4

    static func html(_ value: ProofValue, named name: String = "") -> HTML {
        switch value {
        case .fields(let fields):
            let isOpen = fields.count(where: { $0.value.hasParts }) <= maximumOpen
            return ul(.class("tree")) { for field in fields { li { html(field, isOpen: isOpen) } } }
        case .list(let values):
            let isOpen = values.count(where: \.hasParts) <= maximumOpen
            return ul(.class("tree")) {
                for (index, value) in values.enumerated() {
                    li {
                        if value.hasParts {
                            nested(value, named: name, isOpen: isOpen) { plain("\(index + 1)") }
                        } else {
                            html(value, named: name)
                        }
                    }
                }
            }
        case .text(let text): return shown(text)
        case .number(let digits):
            return HTML {
                code { data(clipped(digits, to: maximumTextLength)) }
                if let meaning = ProofFieldMeaning.phrase(ofNumber: digits, in: name) { also(small { meaning }) }
            }
        case .bool(let bool): return Shown.identifier(bool ? "true" : "false")
        case .null: return Shown.identifier("null")
        case .date(let date, let stated):
            return spaced(Shown.moment(date), small { code { data(clipped(stated, to: 64)) } })
        case .bytes(let bytes): return Self.bytes(bytes)
        case .proof(let inspection): return proof(inspection)
        case .certificates(let count):
            return HTML { "\(count) certificates, shown below" }
        case .omitted: return HTML { "More values are not shown." }
        case .withheld: return HTML { "Not shown: whoever has it can present the purchase." }
        }
    }

    private static func html(_ field: ProofValue.Field, isOpen: Bool) -> HTML {
        let title = HTML {
            strong { data(clipped(field.name, to: 128)) }
            if let attribute = field.attribute {
                plain(field.name.isEmpty ? "" : " ")
                small { plain("[\(attribute)]") }
            }
            if let meaning = ProofFieldMeaning.phrase(of: field.name) { also(small { meaning }) }
        }
        if field.value.hasParts {
            return nested(field.value, named: field.name, isOpen: isOpen) { title }
        }
        return spaced(by: ": ", title, html(field.value, named: field.name))
    }

    private static func nested(
        _ value: ProofValue, named name: String, isOpen: Bool, @HTMLBuilder title: () -> HTML
    ) -> HTML {
        details(isOpen ? .open : nil) {
            summary {
                title()
                if let hint = value.hint { also(small { data(clipped(hint, to: 256)) }) }
            }
            html(value, named: name)
        }
    }

    /// A JWS inside the proof.
    @HTMLBuilder private static func proof(_ inspection: ProofInspection) -> HTML {
        inspection.facts(origin: nil)
        if let payload = inspection.payload { html(payload) }
        details {
            summary { "Header and certificates" }
            if let header = inspection.header { html(header) }
            inspection.certificateList
        }
    }

    private static func shown(_ text: String) -> HTML {
        guard text.utf8.count > maximumTextLength else { return Shown.identifier(text) }
        let count = Shown.digits(text.utf8.count)
        return HTML {
            code { data(clipped(text, to: maximumTextLength)) }
            plain(" … ")
            small { "\(count) bytes" }
        }
    }

    /// The beginning of a text, in bytes: a single character of a stranger's text may be long.
    private static func clipped(_ text: String, to maximum: Int) -> String {
        text.utf8.count <= maximum ? text : String(decoding: text.utf8.prefix(maximum), as: UTF8.self)
    }

    @HTMLBuilder static func bytes(_ bytes: [UInt8]) -> HTML {
        if !bytes.isEmpty { code { plain(bytes.prefix(maximumByteCount).hexadecimal) } }
        plain(bytes.count > maximumByteCount ? " … " : " ")
        small { "\(bytes.count) bytes" }
    }
}

extension ProofValue {
    /// True if the value has values inside it.
    fileprivate var hasParts: Bool {
        switch self {
        case .fields(let fields): !fields.isEmpty
        case .list(let values): !values.isEmpty
        case .proof: true
        default: false
        }
    }

    /// The product or the transaction of a purchase, which tells it from others.
    fileprivate var hint: String? {
        for name in ["productId", "transactionId"] {
            if case .text(let text)? = self[name] { return text }
        }
        return nil
    }
}

package enum ProofFieldMeaning {
    private static let maximumLength = 64

    /// The meaning of a field. Nil for an unknown field, or one whose name says it.
    package static func phrase(of name: String) -> Phrase? {
        // Names come from strangers, and hashing a long name of combined characters is slow.
        guard name.utf8.count <= maximumLength, name.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        return fields[name]
    }

    /// The meaning of a number in a field. Nil if it is an amount, or unknown.
    static func phrase(ofNumber digits: String, in name: String) -> Phrase? {
        guard name.utf8.count <= maximumLength, digits.utf8.count <= 4, name.utf8.allSatisfy({ $0 < 0x80 }) else {
            return nil
        }
        return numbers[name]?[digits]
    }

    private static let fields: [String: Phrase] = {
        var fields = others
        for fact in TransactionFact.allCases { fields["\(fact)"] = Phrase(stated: fact.field.meaning) }
        for fact in RenewalFact.allCases { fields["\(fact)"] = Phrase(stated: fact.field.meaning) }
        for attribute in AppReceipt.Attribute.allCases { fields["\(attribute)"] = Phrase(stated: attribute.meaning) }
        for attribute in InAppPurchase.Attribute.allCases { fields["\(attribute)"] = Phrase(stated: attribute.meaning) }
        return fields
    }()

    /// The fields outside the tables of `Receipts`.
    private static let others: [String: Phrase] = [
        "alg": "signature algorithm",
        "kid": "key",
        "typ": "type of the token",
        "x5c": "certificate chain",
        "contentType": "type of the content",
        "digestAlgorithm": "hash function",
        "signatureAlgorithm": "signature algorithm",
        "signerSerialNumber": "serial number of the signer's certificate",
        "acknowledged": "the app has acknowledged the purchase",
        "bundleVersion": "version of the app",
        "consumptionRequestReason": "reason of the refund request",
        "data": "the affected app and purchase",
        "deviceVerification": "binding to the device",
        "deviceVerificationNonce": "input of the binding",
        "externalPurchaseToken": "purchase outside the App Store",
        "notificationType": "event",
        "notificationUUID": "identifier of the notification",
        "originalPlatform": "platform of the first download",
        "preorderDate": "pre-order",
        "purchaseState": "state of the payment",
        "purchaseToken": "identifier of the purchase",
        "revocationDate": "refund or revocation",
        "revocationReason": "reason of the refund",
        "signedAppTransactionInfo": "signed app transaction",
        "signedRenewalInfo": "signed renewal information",
        "signedTransactionInfo": "signed transaction",
        "status": "state of the subscription",
        "subtype": "detail of the event",
        "summary": "extension of many subscriptions",
        "tokenCreationDate": "creation of the token",
        "tokenExpirationDate": "end of the token",
        "tokenType": "type of the token",
        "unclaimInfo": "seats without a claim",
        "version": "version of the format",
    ]

    /// The numbers with a meaning (App Store Server API; App Store Receipts).
    private static let numbers: [String: [String: Phrase]] = [
        "purchaseState": ["0": "paid", "4": "payment pending"],
        "autoRenewStatus": ["0": Phrase("off", context: "number"), "1": Phrase("on", context: "number")],
        "expirationIntent": [
            "1": "the customer cancelled", "2": "billing error",
            "3": "no consent to a price increase",
            "4": "product not available", "5": "another reason",
        ],
        "offerType": [
            "1": "introductory", "2": "promotional",
            "3": "offer code",
            "4": "win-back",
        ],
        "priceIncreaseStatus": [
            "0": "not answered yet", "1": "agreed",
        ],
        "productType": [
            "0": "non-consumable", "1": "consumable",
            "2": "non-renewing subscription", "3": "auto-renewable subscription",
        ],
        "revocationReason": [
            "0": "another reason", "1": "an issue in the app",
        ],
        "status": [
            "1": Phrase("active", context: "number"), "2": "expired", "3": "billing retry",
            "4": "grace period", "5": "revoked",
        ],
    ]
}

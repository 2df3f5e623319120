import Entitlements
import Features
import HTTPSupport
import Ledger
import Proofs
import Vocabulary

/// The body of `POST /v1/receipts`.
///
/// The prices and dates that the app states are not read: only signed facts count.
package struct ReceiptRequest: Hashable, Sendable {
    package let user: String
    /// Nil if the app sends none, with only a transaction identifier.
    package let fetchToken: FetchToken?
    package let transactionIdentifier: String?
    package let productIdentifier: String?
    /// The products of a purchase at Google Play, which has one token for all; empty for another platform.
    package let productIdentifiers: [String]
    package let attributes: AttributeChanges

    /// - Parameter isAndroid: True if an SDK on Android has sent the body. Its token is a purchase token.
    /// - Throws: `Problem` for an invalid body, `RedemptionError` for an invalid token.
    package init(_ body: [UInt8], isAndroid: Bool = false) throws {
        let members = try RequestMembers(body)
        user = try members.text("app_user_id")
        let token = try members.optionalText("fetch_token", upTo: FetchToken.maximumSize)
        productIdentifiers =
            try isAndroid ? members.texts("product_ids", atMost: GooglePlayPurchase.maximumProducts) : []
        do throws(ProofRefusal) {
            if let token, !token.isEmpty {
                fetchToken = isAndroid ? try FetchToken(purchaseToken: token) : try FetchToken(token)
            } else {
                fetchToken = nil
            }
        } catch {
            throw RedemptionError.refused(error)
        }
        // The outcome depends neither on the app transaction nor on a restore.
        _ = try members.optionalText("app_transaction", upTo: ProofVerifier.maximumCompactSize)
        transactionIdentifier = try members.optionalText("transaction_id")
        productIdentifier = try members.optionalText("product_id")
        _ = try members.flag("is_restore")
        attributes = try AttributeChanges(members)
    }
}

/// The proof in a receipt request (`fetch_token`), in one of its forms.
package enum FetchToken: Hashable, Sendable {
    /// A signed transaction of StoreKit 2, as the bytes of the JWS.
    case transaction([UInt8])
    /// An app receipt in base64.
    case appReceipt([UInt8])
    /// The transactions that an app collects in Xcode's test environment.
    case xcode(XcodeReceipt)
    /// The purchase token of Google Play, as the bytes of a `GooglePlayToken`.
    case googlePlay([UInt8])

    /// The maximum size of a token in bytes. A larger proof is none of Apple's.
    package static let maximumSize = ProofVerifier.maximumTextSize

    /// - Throws: `ProofRefusal` with the reason `tooLarge` or `encodingInvalid`.
    package init(_ text: String) throws(ProofRefusal) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.maximumSize else { throw ProofRefusal(.tooLarge) }
        if Self.isSignedJSON(bytes) {
            self = .transaction(bytes)
            return
        }
        guard let decoded = Base64.decode(bytes), let first = decoded.first else {
            throw ProofRefusal(.encodingInvalid)
        }
        switch first {
        case 0x30: self = .appReceipt(bytes)
        case UInt8(ascii: "{"): self = .xcode(try XcodeReceipt(decoded))
        default: throw ProofRefusal(.encodingInvalid)
        }
    }

    /// - Parameter purchaseToken: The token of the Play Billing Library. The key of the app says which app it is of.
    /// - Throws: `ProofRefusal` with the reason `tooLarge` or `encodingInvalid`.
    package init(purchaseToken: String) throws(ProofRefusal) {
        // Google may make tokens longer one day, so this is no final refusal.
        guard purchaseToken.utf8.count <= GooglePlayPurchase.maximumTokenSize else { throw ProofRefusal(.tooLarge) }
        self = .googlePlay(try GooglePlayToken(purchaseToken: purchaseToken).json.compactBytes)
    }

    /// The proofs to redeem, in their order.
    package var proofs: [[UInt8]] {
        switch self {
        case .transaction(let proof), .appReceipt(let proof), .googlePlay(let proof): [proof]
        case .xcode(let receipt): receipt.transactions
        }
    }

    /// True for the compact form of a JWS: three parts, the first of which is an object in base64.
    static func isSignedJSON(_ bytes: [UInt8]) -> Bool {
        bytes.starts(with: Array("eyJ".utf8)) && bytes.count { $0 == UInt8(ascii: ".") } == 2
    }
}

/// The body of `POST /v1/offers`.
///
/// The receipt beside the offers is not read. The catalog has the offers.
package struct OfferRequest: Hashable, Sendable {
    package struct Offer: Hashable, Sendable {
        package let identifier: String
        package let productIdentifier: String
    }

    package static let maximumCount = 100

    package let user: String
    package let offers: [Offer]

    package init(_ body: [UInt8]) throws(Problem) {
        let members = try RequestMembers(body)
        user = try members.text("app_user_id")
        var offers: [Offer] = []
        for offer in try members.objects("generate_offers", atMost: Self.maximumCount) {
            offers.append(
                Offer(identifier: try offer.text("offer_id"), productIdentifier: try offer.text("product_id")))
            // The catalog has the group.
            _ = try offer.optionalText("subscription_group")
        }
        guard !offers.isEmpty else { throw members.wrong("generate_offers", "an array of at least one offer") }
        self.offers = offers
    }
}

/// The body of `POST /v1/subscribers/{user}/intro_eligibility`.
///
/// The receipt beside the products is not read. The ledger has the customer's purchases.
package struct IntroEligibilityRequest: Hashable, Sendable {
    package static let maximumCount = 1000

    package let productIdentifiers: [String]

    package init(_ body: [UInt8]) throws(Problem) {
        productIdentifiers = try RequestMembers(body).texts("product_identifiers", atMost: Self.maximumCount)
    }
}

/// The body of `POST /v1/subscribers/identify`.
package struct LogInRequest: Hashable, Sendable {
    /// The current user, usually an anonymous one.
    package let user: String
    package let newUser: String

    package init(_ body: [UInt8]) throws(Problem) {
        let members = try RequestMembers(body)
        user = try members.text("app_user_id")
        newUser = try members.text("new_app_user_id")
    }
}

/// The attributes in a request (`attributes`): those that can be recorded, and the reasons against the others.
package struct AttributeChanges: Hashable, Sendable {
    package static let maximumCount = 100
    /// The maximum length of a name, in bytes of UTF-8.
    package static let maximumNameLength = 256
    /// The maximum length of a value, in bytes of UTF-8.
    package static let maximumValueLength = 4096

    /// The maximum size of a body with attributes, in bytes.
    static let maximumBodySize = 512 * 1024

    package private(set) var accepted: [Attribute] = []
    package private(set) var errors: [AttributeFailure] = []

    /// Reads the body of `POST /v1/subscribers/{user}/attributes`.
    package init(_ body: [UInt8]) throws(Problem) {
        try self.init(RequestMembers(body))
    }

    /// Reads the member `attributes`. There are none if the member is missing.
    init(_ members: RequestMembers) throws(Problem) {
        guard let object = try members.object("attributes")?.object else { return }
        guard object.members.count <= Self.maximumCount else {
            throw members.wrong("attributes", "an object of at most \(Self.maximumCount) members")
        }
        for member in object.members {
            guard (1...Self.maximumNameLength).contains(member.key.utf8.count),
                case .object(let object) = member.value, case .number(let date)? = object["updated_at_ms"],
                let milliseconds = date.int64
            else { throw members.wrong("attributes", "an object of values with updated_at_ms") }
            let value = try RequestMembers(object: object).optionalText("value", upTo: Self.maximumValueLength)
            do throws(AttributeError) {
                // RevenueCat removes an attribute by an empty value, too.
                accepted.append(
                    try Attribute(
                        name: member.key, value: value.flatMap { $0.isEmpty ? nil : $0 },
                        statedAt: Timestamp(millisecondsSince1970: milliseconds), isPublic: true))
            } catch {
                errors.append(AttributeFailure(name: member.key, message: error.message))
            }
        }
    }

    /// Records the attributes.
    ///
    /// - Parameter newcomers: The caller's allowance for customers without a purchase; nil for no limit.
    /// - Returns: The reasons against those that are refused.
    /// - Throws: `LedgerError.newcomersLimited`.
    func record(
        of user: User,
        _ newcomers: NewcomerAllowance?,
        _ services: DoorServices
    ) async throws -> [AttributeFailure] {
        guard !accepted.isEmpty else { return errors }
        let moment = services.entitlements.clock.now()
        do {
            try await services.entitlements.ledger.write {
                try $0.state(
                    accepted, of: user, from: services.entitlements.limitingApp, newcomers: newcomers, at: moment)
            }
        } catch let error as AttributeError {
            return errors + accepted.map { AttributeFailure(name: $0.name, message: error.message) }
        }
        return errors
    }
}

/// The transactions that an app collects in Xcode's test environment, which has no app receipt.
///
/// Nothing of it is believed but the signed transactions and renewals.
package struct XcodeReceipt: Hashable, Sendable {
    /// The maximum number of signed transactions and renewals.
    package static let maximumCount = 2000

    /// The signed transactions: those of the list, then those of the subscriptions' statuses.
    package let transactions: [[UInt8]]
    /// The signed renewals of the subscriptions' statuses.
    package let renewals: [[UInt8]]

    /// - Parameter bytes: JSON. The caller limits its size.
    /// - Throws: `ProofRefusal` with the reason `encodingInvalid` or `tooManyPurchases`.
    init(_ bytes: [UInt8]) throws(ProofRefusal) {
        guard case .object(let root)? = try? JSONParser.parse(bytes, limits: .init(bytes: ProofVerifier.maximumSize))
        else {
            throw ProofRefusal(.encodingInvalid, "The token is not a JSON object.")
        }
        var transactions: [[UInt8]] = []
        for value in try Self.elements(root["transactions"], "transactions") {
            guard let proof = try Self.proof(value, "transactions") else { throw Self.invalid("transactions") }
            transactions.append(proof)
        }
        var renewals: [[UInt8]] = []
        for status in try Self.statuses(root["subscription_status"], "subscription_status") {
            if let proof = try Self.proof(status["transaction"], "transaction") { transactions.append(proof) }
            if let proof = try Self.proof(status["renewal_info"], "renewal_info") { renewals.append(proof) }
        }
        guard transactions.count + renewals.count <= Self.maximumCount else {
            throw ProofRefusal(.tooManyPurchases)
        }
        var seen: Set<[UInt8]> = []
        self.transactions = transactions.filter { seen.insert($0).inserted }
        self.renewals = renewals
    }

    private static func statuses(_ value: JSONValue?, _ name: String) throws(ProofRefusal) -> [JSONObject] {
        guard let value, value != .null else { return [] }
        guard case .object(let groups) = value else { throw invalid(name) }
        var statuses: [JSONObject] = []
        for group in groups.members {
            guard group.value != .null else { throw invalid(name) }
            for element in try elements(group.value, name) {
                guard case .object(let status) = element else { throw invalid(name) }
                statuses.append(status)
            }
        }
        return statuses
    }

    /// The elements of an array; none if it is missing or null.
    private static func elements(_ value: JSONValue?, _ name: String) throws(ProofRefusal) -> [JSONValue] {
        guard let value, value != .null else { return [] }
        guard case .array(let elements) = value else { throw invalid(name) }
        return elements
    }

    private static func proof(_ value: JSONValue?, _ name: String) throws(ProofRefusal) -> [UInt8]? {
        guard let value, value != .null else { return nil }
        guard case .string(let text) = value, FetchToken.isSignedJSON(Array(text.utf8)) else { throw invalid(name) }
        return Array(text.utf8)
    }

    private static func invalid(_ name: String) -> ProofRefusal {
        ProofRefusal(.encodingInvalid, "The member \"\(name)\" of the token is invalid.")
    }
}

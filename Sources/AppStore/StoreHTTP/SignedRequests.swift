import Catalog
import Foundation
import HTTPSupport
import Proofs

/// A request of an app to StoreKit that the developer's server has signed, by its audience (StoreKit, "Generating JWS to sign App Store
/// requests").
package enum SignedRequestKind: String, Sendable, CaseIterable {
    case promotionalOffer = "promotional-offer"
    case introductoryOfferEligibility = "introductory-offer-eligibility"
    case advancedCommerce = "advanced-commerce-api"
}

package struct SignedRequestVerdict: AnswerObject, Codable, Sendable {
    package static let answerFields = AnswerFields<Self>(
        "The verdict on a request that a developer's server has signed.", named: "SignedRequestVerdict"
    ) {
        $0.field("isAccepted", "True if StoreKit would accept it.", \.isAccepted)
        $0.field("refusal", "The reason why not; absent if it is accepted.", \.refusal)
        $0.field("audience", .one(of: SignedRequestKind.self, "The feature; absent for another one."), \.audience)
        $0.field("claims", "The claims, whoever has signed them; absent without a JWT.", \.claims)
        $0.field("request", "The decoded request of the Advanced Commerce API.", \.request)
    }

    package let isAccepted: Bool
    package let refusal: String?
    package let audience: String?
    package let claims: JSONContent?
    package let request: JSONContent?
}

/// The reason why the App Store does not use what a developer's server has made.
struct AppStoreRefusal: Error {
    let sentence: String
    /// The error of a payment with it.
    let error: SKErrorCode

    init(_ sentence: String, _ error: SKErrorCode = .invalidSignature) {
        (self.sentence, self.error) = (sentence, error)
    }
}

extension TeamKey {
    /// True if the key has the identifier of a token, byte for byte.
    func isNamed(by token: SignedToken) -> Bool {
        token.keyIdentifier.map(keyIdentifier.hasSameBytes) ?? false
    }

    func hasSigned(_ token: SignedToken) -> Bool {
        PublicKey(pem: publicKey).flatMap { TokenKey($0, for: .es256) }.map(token.isSigned) ?? false
    }
}

extension Books {
    /// The difference between the clocks of the developer's server and of the store that is tolerated, in seconds.
    private static let clockTolerance: Int64 = 60

    /// The verdict on a request, as StoreKit would judge it on a device.
    package func verdict(onSignedRequest compact: String) throws -> SignedRequestVerdict {
        let token = try? SignedToken(compact: Array(compact.utf8))
        let kind = token.flatMap(Self.kind)
        var request: SignedAdvancedCommerceRequest?
        var refusal: String?
        do {
            guard let token else {
                throw AppStoreRefusal("It is not a signed JWT in compact form, of at most 8 KB.")
            }
            request = kind == .advancedCommerce ? SignedAdvancedCommerceRequest(token.claims) : nil
            guard let kind else {
                let audiences = SignedRequestKind.allCases.map(\.rawValue).joined(separator: ", ")
                throw AppStoreRefusal("The claim aud must be one of \(audiences).")
            }
            try check(token)
            switch kind {
            case .promotionalOffer: try checkPromotionalOffer(token.claims)
            case .introductoryOfferEligibility: try checkIntroductoryOffer(token.claims)
            case .advancedCommerce:
                guard let request else { throw SignedAdvancedCommerceRequest.unreadable }
                try request.check()
            }
        } catch let reason as AppStoreRefusal {
            refusal = reason.sentence
        }
        return SignedRequestVerdict(
            isAccepted: refusal == nil, refusal: refusal, audience: kind?.rawValue,
            claims: token.map { JSONContent(.object($0.claims.object)) },
            request: request.map { JSONContent(.object($0.object)) })
    }

    /// Checks the signature of a promotional offer (version 2), and the offer.
    ///
    /// - Returns: The product of the offer.
    /// - Throws: `AppStoreRefusal`.
    func checkedProduct(ofSignedOffer compact: String) throws -> String {
        try checkPromotionalOffer(try claims(of: compact, for: .promotionalOffer))
    }

    /// Checks a signed request of the Advanced Commerce API.
    ///
    /// - Returns: The change of a subscription; nil for a new purchase.
    /// - Throws: `AppStoreRefusal`.
    func checkedChange(ofSignedRequest compact: String) throws -> AdvancedCommerceChange? {
        guard let request = SignedAdvancedCommerceRequest(try claims(of: compact, for: .advancedCommerce)) else {
            throw SignedAdvancedCommerceRequest.unreadable
        }
        try request.check()
        return try request.charge(in: storefront).change
    }

    /// The claims of a request that the team has signed for a feature.
    ///
    /// - Throws: `AppStoreRefusal`.
    private func claims(of compact: String, for kind: SignedRequestKind) throws -> TokenClaims {
        guard let token = try? SignedToken(compact: Array(compact.utf8)), Self.kind(of: token) == kind else {
            throw AppStoreRefusal("The signature is not a JWT with the audience \(kind.rawValue).")
        }
        try check(token)
        return token.claims
    }

    private static func kind(of token: SignedToken) -> SignedRequestKind? {
        guard let audiences = token.claims.audiences, audiences.count == 1 else { return nil }
        return SignedRequestKind.allCases.first { $0.rawValue.hasSameBytes(as: audiences[0]) }
    }

    /// Checks the parts that all requests have.
    private func check(_ token: SignedToken) throws {
        guard token.algorithm.hasSameBytes(as: "ES256") else {
            throw AppStoreRefusal("The header's alg must be ES256.")
        }
        guard let key = try teamKeys().first(where: { $0.isNamed(by: token) }) else {
            throw AppStoreRefusal("The header's kid names no key of the store. Make one with `till store keys`.")
        }
        guard key.hasSigned(token) else {
            throw AppStoreRefusal("The signature is not by the key \(key.keyIdentifier).")
        }
        let claims = token.claims
        guard claims.text("iss").map(key.issuerIdentifier.hasSameBytes) ?? false else {
            throw AppStoreRefusal("The claim iss must be the key's issuer, \(key.issuerIdentifier).")
        }
        guard claims.text("bid").map(issuer.bundleIdentifier.hasSameBytes) ?? false else {
            throw AppStoreRefusal("The claim bid must be the app, \(issuer.bundleIdentifier).")
        }
        guard let start = claims.date("iat"), start >= 0,
            start <= Double(now.secondsSince1970 + Self.clockTolerance)
        else { throw AppStoreRefusal("The claim iat must be a time in seconds since 1970 that has come.") }
        guard claims.text("nonce").flatMap(UUID.init(uuidString:)) != nil else {
            throw AppStoreRefusal("The claim nonce must be a UUID.")
        }
    }

    /// - Returns: The product of the offer.
    @discardableResult
    private func checkPromotionalOffer(_ claims: TokenClaims) throws -> String {
        let (product, offers) = try subscription(in: claims)
        guard let identifier = claims.text("offerIdentifier"),
            let offer = offers.first(where: { $0.kind == .promotional && $0.identifier == identifier })
        else {
            throw AppStoreRefusal(
                "The claim offerIdentifier must be a promotional offer of the product.", .invalidOfferIdentifier)
        }
        // Without a transaction, any customer's device may use the signature.
        if let account = try customer(in: claims, isRequired: false) {
            let known = try product.subscription.flatMap {
                try subscriptions.subscription(of: account, group: $0.groupIdentifier)
            }
            guard known != nil, offer.eligibility?.contains(known.eligibility) ?? true else {
                throw AppStoreRefusal(
                    "The customer of transactionId is not eligible for the offer.", .ineligibleForOffer)
            }
        }
        return product.productIdentifier
    }

    private func checkIntroductoryOffer(_ claims: TokenClaims) throws {
        let (_, offers) = try subscription(in: claims)
        guard offers.contains(where: { $0.kind == .introductory }) else {
            throw AppStoreRefusal("The product has no introductory offer.", .invalidOfferIdentifier)
        }
        guard claims.flag("allowIntroductoryOffer") != nil else {
            throw AppStoreRefusal("The claim allowIntroductoryOffer must be true or false.")
        }
        _ = try customer(in: claims, isRequired: true)
    }

    private func subscription(in claims: TokenClaims) throws(AppStoreRefusal) -> (Product, [SubscriptionOffer]) {
        guard let product = claims.text("productId").flatMap(configuration.product),
            let offers = product.subscription?.offers
        else { throw AppStoreRefusal("The claim productId must be an auto-renewable subscription of the store.") }
        return (product, offers)
    }

    /// The account of the claim `transactionId`; nil without one, and for the app transaction of an account that has bought nothing.
    private func customer(in claims: TokenClaims, isRequired: Bool) throws -> String? {
        guard claims.object["transactionId"] != nil || isRequired else { return nil }
        guard let identifier = claims.text("transactionId") else {
            throw AppStoreRefusal("The claim transactionId must be the text of a number.")
        }
        do {
            return try apiAccount(ofAny: identifier)
        } catch is ServerAPIError {
            throw AppStoreRefusal("The claim transactionId must be a transaction or an app transaction of a customer.")
        }
    }
}

/// A signed request with which an app buys.
struct SignedPurchaseRequest: Sendable {
    let kind: SignedRequestKind
    let compact: String
}

extension Books {
    enum PaymentVerdict {
        /// The payment may go on, with what the request gives it. The nonce is good for one payment.
        case accepted(Payment, nonce: UUID)
        case refused(SKErrorCode)
    }

    /// Judges a payment of an account, as the App Store does before it asks the customer.
    func verdict(on payment: Payment, with signed: SignedPurchaseRequest, account: String) throws -> PaymentVerdict {
        do {
            let claims = try claims(of: signed.compact, for: signed.kind)
            guard let nonce = claims.text("nonce").flatMap(UUID.init(uuidString:)) else {
                throw AppStoreRefusal("The claim nonce must be a UUID.")
            }
            let accepted =
                switch signed.kind {
                case .promotionalOffer: try promoted(payment, by: claims, account: account)
                case .introductoryOfferEligibility: try introduced(payment, by: claims, account: account)
                case .advancedCommerce: try described(payment, by: claims)
                }
            return .accepted(accepted, nonce: nonce)
        } catch let refusal as AppStoreRefusal {
            return .refused(refusal.error)
        }
    }

    private func promoted(_ payment: Payment, by claims: TokenClaims, account: String) throws -> Payment {
        try checkPromotionalOffer(claims)
        try check(claims, for: payment, account: account)
        let named = payment.offer?.identifier ?? ""
        guard claims.text("offerIdentifier").map(named.hasSameBytes) ?? false else {
            throw AppStoreRefusal("The claim offerIdentifier must be the offer of the payment.")
        }
        return payment
    }

    private func introduced(_ payment: Payment, by claims: TokenClaims, account: String) throws -> Payment {
        try checkIntroductoryOffer(claims)
        try check(claims, for: payment, account: account)
        return payment.with(.introductory(isAllowed: claims.flag("allowIntroductoryOffer") ?? false))
    }

    private func described(_ payment: Payment, by claims: TokenClaims) throws -> Payment {
        guard let request = SignedAdvancedCommerceRequest(claims) else {
            throw SignedAdvancedCommerceRequest.unreadable
        }
        try request.check()
        return payment.with(try request.charge(in: storefront), appAccountToken: request.appAccountToken)
    }

    /// Checks that a signed offer is for the product and the customer of a payment.
    private func check(_ claims: TokenClaims, for payment: Payment, account: String) throws {
        guard claims.text("productId").map(payment.productIdentifier.hasSameBytes) ?? false else {
            throw AppStoreRefusal("The claim productId must be the product of the payment.")
        }
        // Without a transaction, any customer's device may use the signature.
        let customer = claims.text("transactionId")
        guard try customer.map({ try isCustomer(account, of: $0) }) ?? true else {
            throw AppStoreRefusal("The claim transactionId must be a transaction of the customer.")
        }
    }

    /// True if a transaction or an app transaction is the account's. It has one before its first purchase, too.
    private func isCustomer(_ account: String, of identifier: String) throws -> Bool {
        try identifier == issuer.appTransactionIdentifier(of: account) || apiAccount(ofAny: identifier) == account
    }
}

extension JSONContent {
    /// The content of a value from anybody. A number out of the range of `Double` becomes its text.
    fileprivate init(_ value: JSONValue) {
        switch value {
        case .object(let object):
            self = .object(Dictionary(object.members.map { ($0.key, Self($0.value)) }) { first, _ in first })
        case .array(let elements): self = .array(elements.map { Self($0) })
        case .string(let text): self = .string(text)
        case .number(let number):
            let double = Double(number.text).flatMap { $0.isFinite ? Self.number($0) : nil }
            self = number.int64.map { .integer($0) } ?? double ?? .string(number.text)
        case .bool(let flag): self = .bool(flag)
        case .null: self = .null
        }
    }
}

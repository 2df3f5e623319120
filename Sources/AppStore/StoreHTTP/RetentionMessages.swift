import Catalog
import Foundation
import HTTPSupport
import Proofs

/// A realtime request of retention messaging, the answer, and the message that the customer sees (Retention Messaging API, "Get Retention
/// Message").
package struct RetentionExchange: AnswerObject, Codable, Sendable {
    package static let answerFields = AnswerFields<Self>(
        "A realtime request, with the answer of the developer's server.", named: "RetentionExchange"
    ) {
        $0.field("url", "The address of the developer's server.", \.url)
        $0.field("signedPayload", "The JWS that was sent.", \.signedPayload)
        $0.field("result", .one(of: SendAttemptResult.self, "`SUCCESS` for the status 200."), \.result)
        $0.field("status", "The status of the answer; absent without an answer.", \.status)
        $0.field("milliseconds", "The time until the answer had arrived.", \.milliseconds)
        $0.field("body", "The body of the answer; absent without an answer, or if it is not UTF-8.", \.body)
        $0.field(
            "shown",
            .one(
                of: RetentionChoice.Kind.self,
                "The part of the answer that the customer sees; `defaultMessage` or `nothing` if it is not used."),
            \.shown)
        $0.field("messageIdentifier", "The message that the customer sees; absent for `nothing`.", \.messageIdentifier)
        $0.field("refusal", "The reason why the answer is not used; absent if it is.", \.refusal)
    }

    package let url: String
    package let signedPayload: String
    package let result: String
    package let status: Int?
    package let milliseconds: Int64
    package let body: String?
    package let shown: String
    package let messageIdentifier: String?
    package let refusal: String?
}

/// The message that the customer sees.
package struct RetentionChoice: Hashable, Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        case message, alternateProduct, promotionalOffer, advancedCommerceInfo, defaultMessage, nothing
    }

    package let kind: Kind
    /// Nil for nothing.
    package let messageIdentifier: String?
    /// The reason why the answer of the developer's server is not used; nil if it is.
    package var refusal: String?
}

/// A realtime request before it is sent (Retention Messaging API, `DecodedRealtimeRequestBody`).
private struct RealtimeRequest: Sendable {
    /// The time is below that of the request that causes this one. Apple documents none.
    private static let limits = OutgoingLimits(
        answer: .seconds(10), body: .whole(upTo: 64 << 10), redirects: NotificationSender.maximumRedirects)

    /// An answer of the developer's server.
    struct Answer: Sendable {
        let result: SendAttemptResult
        var status: Int?
        var body: [UInt8] = []
        let milliseconds: Int64
    }

    let url: URL
    let signedPayload: String
    let subscription: CustomerSubscription
    let locale: String

    func send() async throws -> Answer {
        let request = try NotificationSender.request(signedPayload, to: url)
        let start = ContinuousClock.now
        do {
            let answer = try await OutgoingClient.shared.send(request, Self.limits)
            return Answer(
                result: answer.status == 200 ? .success : .unsuccessfulHTTPResponseCode, status: answer.status,
                body: answer.body, milliseconds: (ContinuousClock.now - start).wholeMilliseconds)
        } catch .cancelled {
            throw CancellationError()
        } catch {
            return Answer(
                result: NotificationSender.result(of: error),
                milliseconds: (ContinuousClock.now - start).wholeMilliseconds)
        }
    }
}

extension Duration {
    fileprivate var wholeMilliseconds: Int64 { Int64(self / .milliseconds(1)) }
}

extension Store {
    /// Sets the address that is asked for retention messages to that of a service beside the store, unless another server has set one.
    package func offerRealtimeURL(_ url: URL) throws(StoreError) {
        try write { books in
            let known = try books.messaging.find(.realtimeURL, "").flatMap(URL.init(string:))
            let isOurs = known.map { $0.path == url.path && $0.host() == url.host() } ?? true
            if isOurs { try books.messaging.set(.realtimeURL, "", url.absoluteString) }
        }
    }

    /// Asks the developer's server for a retention message, as when a customer views a subscription and may cancel it.
    ///
    /// - Parameters:
    ///   - transactionIdentifier: Any transaction of the subscription.
    ///   - locale: The customer's locale, such as `en-US`; nil for that of the settings.
    /// - Throws: `StoreError` if the subscription, the locale or the address is not there. A server that fails is no error.
    package func requestRetentionMessage(
        for transactionIdentifier: String,
        locale: String? = nil
    ) async throws -> RetentionExchange {
        let request = try await BlockingWork.run { [self] in
            try read { try $0.realtimeRequest(for: transactionIdentifier, locale: locale) }
        }
        let answer = try await request.send()
        let choice = try await BlockingWork.run { [self] in
            try read { books in
                answer.result == .success
                    ? try books.retentionChoice(
                        in: answer.body, for: request.subscription, locale: request.locale)
                    : try books.defaultChoice(
                        for: request.subscription, locale: request.locale,
                        because: answer.status.map { "The status is \($0). It must be 200." }
                            ?? "The server did not answer: \(answer.result.rawValue).")
            }
        }
        return RetentionExchange(
            url: request.url.absoluteString, signedPayload: request.signedPayload, result: answer.result.rawValue,
            status: answer.status, milliseconds: answer.milliseconds,
            body: answer.status.flatMap { _ in String(validating: answer.body, as: UTF8.self) },
            shown: choice.kind.rawValue, messageIdentifier: choice.messageIdentifier, refusal: choice.refusal)
    }
}

/// A developer's answer to a realtime request (Retention Messaging API, `RealtimeResponseBody`).
private struct RealtimeResponseBody: Decodable {
    struct Message: Decodable {
        let messageIdentifier: UUID
    }

    struct AlternateProduct: Decodable {
        let messageIdentifier: UUID
        let productId: String
        let billingPlanType: BillingPlanType?
    }

    struct PromotionalOffer: Decodable {
        struct SignatureV1: Decodable {
            let encodedSignature: String
            let productId: String
            let nonce: UUID
            let timestamp: Int64
            let keyId: String
            let offerIdentifier: String
            let appAccountToken: UUID?
        }

        let messageIdentifier: UUID
        let promotionalOfferSignatureV2: String?
        let promotionalOfferSignatureV1: SignatureV1?
    }

    struct AdvancedCommerceInfo: Decodable {
        let messageIdentifier: UUID
        let advancedCommerceData: String
    }

    let message: Message?
    let alternateProduct: AlternateProduct?
    let promotionalOffer: PromotionalOffer?
    let advancedCommerceInfo: AdvancedCommerceInfo?
}

extension Books {
    fileprivate func realtimeRequest(
        for transactionIdentifier: String,
        locale: String?
    ) throws -> RealtimeRequest {
        let subscription = try purchasedSubscription(with: transactionIdentifier)
        let locale = locale ?? settings.locale.replacing("_", with: "-")
        guard MessagingLocale.isValid(locale) else { throw StoreError.localeInvalid(locale) }
        guard let address = try messaging.find(.realtimeURL, ""), let url = URL(string: address) else {
            throw StoreError.invalidAction(
                "Retention messaging has no address. Let your server set one with PUT /inApps/v1/messaging/realtime/url."
            )
        }
        return RealtimeRequest(
            url: url,
            signedPayload: try issuer.sign([
                "originalTransactionId": subscription.originalTransactionIdentifier,
                // Apple's clients require the number in each environment.
                "appAppleId": issuer.knownAppAppleIdentifier ?? 0, "productId": subscription.productIdentifier,
                "userLocale": locale, "requestIdentifier": UUID(randomness: randomness),
                "signedDate": try now(of: subscription.account),
                "environment": issuer.environment.rawValue,
            ]), subscription: subscription, locale: locale)
    }

    /// The message that the customer sees after an answer with the status 200.
    fileprivate func retentionChoice(
        in body: [UInt8],
        for subscription: CustomerSubscription,
        locale: String
    ) throws -> RetentionChoice {
        do {
            return try choice(in: body, for: subscription)
        } catch let refusal as AppStoreRefusal {
            return try defaultChoice(for: subscription, locale: locale, because: refusal.sentence)
        }
    }

    /// The default message of the product and the locale, or nothing.
    fileprivate func defaultChoice(
        for subscription: CustomerSubscription,
        locale: String,
        because refusal: String
    ) throws -> RetentionChoice {
        let name = MessagingLocale.name(ofDefault: subscription.productIdentifier, locale)
        guard let message = try messaging.find(.defaultMessage, name),
            let record = try messaging.find(.message, message), isApproved(try LocalRecord.value(record))
        else { return RetentionChoice(kind: .nothing, messageIdentifier: nil, refusal: refusal) }
        return RetentionChoice(kind: .defaultMessage, messageIdentifier: message, refusal: refusal)
    }

    private func choice(in body: [UInt8], for subscription: CustomerSubscription) throws -> RetentionChoice {
        guard let answer = try? CheckedJSON.decode(RealtimeResponseBody.self, from: body) else {
            throw AppStoreRefusal("The body is not a RealtimeResponseBody, or it has a field of another form.")
        }
        switch (answer.message, answer.alternateProduct, answer.promotionalOffer, answer.advancedCommerceInfo) {
        case (let message?, nil, nil, nil):
            return try choice(.message, message.messageIdentifier)
        case (nil, let alternate?, nil, nil):
            try checkGroup(of: alternate.productId, like: subscription)
            guard alternate.productId != subscription.productIdentifier else {
                throw AppStoreRefusal("The customer is subscribed to \"\(alternate.productId)\" already.")
            }
            guard
                alternate.billingPlanType != .monthly
                    || configuration.product(alternate.productId)?.subscription?.monthlyPlan != nil
            else { throw AppStoreRefusal("\"\(alternate.productId)\" has no monthly billing plan.") }
            return try choice(.alternateProduct, alternate.messageIdentifier)
        case (nil, nil, let offer?, nil):
            try check(offer, for: subscription)
            return try choice(.promotionalOffer, offer.messageIdentifier)
        case (nil, nil, nil, let change?):
            try check(change, for: subscription)
            return try choice(.advancedCommerceInfo, change.messageIdentifier)
        default:
            throw AppStoreRefusal(
                "The body must have one of message, alternateProduct, promotionalOffer and advancedCommerceInfo.")
        }
    }

    /// Only a message alone may have a picture.
    private func choice(_ kind: RetentionChoice.Kind, _ identifier: UUID) throws -> RetentionChoice {
        let identifier = identifier.lowercasedString
        guard let record = try messaging.find(.message, identifier) else {
            throw AppStoreRefusal("No message \(identifier) is uploaded.")
        }
        let message: UploadMessageRequestBody = try LocalRecord.value(record)
        guard isApproved(message) else {
            throw AppStoreRefusal("The message \(identifier), or an image of it, is not approved.")
        }
        guard kind == .message || message.image == nil else {
            throw AppStoreRefusal("The message \(identifier) has an image, which only the part message may show.")
        }
        return RetentionChoice(kind: kind, messageIdentifier: identifier)
    }

    /// "All messages and images need to be in an APPROVED state for the system to display them to customers" (Retention Messaging API,
    /// `RealtimeResponseBody`).
    private func isApproved(_ message: UploadMessageRequestBody) -> Bool {
        settings.retentionMessageState == nil && (message.images.isEmpty || settings.retentionImageState == nil)
    }

    private func checkGroup(of product: String, like subscription: CustomerSubscription) throws(AppStoreRefusal) {
        guard configuration.product(product)?.subscription?.groupIdentifier == subscription.groupIdentifier else {
            throw AppStoreRefusal("\"\(product.prefix(100))\" is no subscription of the same group.")
        }
    }

    /// Checks a request with a change of one item (Retention Messaging API, `advancedCommerceData`).
    private func check(
        _ change: RealtimeResponseBody.AdvancedCommerceInfo, for subscription: CustomerSubscription
    ) throws {
        guard let bytes = Base64.decode(change.advancedCommerceData.utf8),
            case .object(let data)? = try? JSONParser.parse(bytes),
            case .object(let signature)? = data["signatureInfo"],
            case .string(let compact)? = signature["token"]
        else {
            throw AppStoreRefusal("The advancedCommerceData must be the base64 of {\"signatureInfo\":{\"token\":JWS}}.")
        }
        guard let charge = subscription.advancedCommerceCharge else {
            throw AppStoreRefusal(
                "The subscription has no items that your server has described. Answer with a message.")
        }
        guard let requested = try checkedChange(ofSignedRequest: compact),
            try transactions.transaction(requested.transactionIdentifier)?.originalTransactionIdentifier
                == subscription.originalTransactionIdentifier
        else { throw AppStoreRefusal("The request's transactionId must be a transaction of the subscription.") }
        guard case .modification(let modification) = requested.kind, modification.replaced.count == 1,
            modification.added.isEmpty, modification.removed.isEmpty
        else {
            throw AppStoreRefusal("The request must be MODIFY_SUBSCRIPTION with one of changeItems, and no other item.")
        }
        guard charge.items.contains(where: { $0.sku == modification.replaced[0].currentSKU }) else {
            throw AppStoreRefusal("The subscription has no item \"\(modification.replaced[0].currentSKU)\".")
        }
    }

    private func check(
        _ offer: RealtimeResponseBody.PromotionalOffer,
        for subscription: CustomerSubscription
    ) throws {
        switch (offer.promotionalOfferSignatureV1, offer.promotionalOfferSignatureV2) {
        case (let signed?, nil): try check(signed, for: subscription)
        case (nil, let compact?):
            try checkGroup(of: try checkedProduct(ofSignedOffer: compact), like: subscription)
        case (nil, nil): throw AppStoreRefusal("The promotional offer has no signature.")
        case (.some, .some): throw AppStoreRefusal("The promotional offer has two signatures. Send one.")
        }
    }

    private func check(
        _ signed: RealtimeResponseBody.PromotionalOffer.SignatureV1,
        for subscription: CustomerSubscription
    ) throws {
        try checkGroup(of: signed.productId, like: subscription)
        let choice = Payment.OfferChoice(kind: .promotional, identifier: signed.offerIdentifier)
        let offers = configuration.product(signed.productId)?.subscription?.offers ?? []
        guard offers.contains(where: { $0.kind == .promotional && $0.identifier == choice.identifier }) else {
            throw AppStoreRefusal("The product has no promotional offer \"\(choice.identifier.prefix(100))\".")
        }
        do {
            try check(
                PromotionalOfferSignature(
                    keyIdentifier: signed.keyId, nonce: signed.nonce,
                    timestamp: Timestamp(millisecondsSince1970: signed.timestamp), signature: signed.encodedSignature),
                of: choice,
                for: Payment(productIdentifier: signed.productId, appAccountToken: signed.appAccountToken))
        } catch is PaymentFailure {
            throw AppStoreRefusal("The signature of the promotional offer is not the team's, or is older than a day.")
        }
    }
}

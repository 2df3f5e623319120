import Foundation
import HTTPSupport
import Proofs
import TestSupport
import Testing

/// What the App Store signs, in words. Each signature is verified.
struct StatementWords {
    let verifier: ProofVerifier

    func notification(_ compact: String) throws -> ResponseBodyV2DecodedPayload {
        guard case .notification(let payload) = try verify(compact) else { throw TestGardenError.notNotification }
        return payload
    }

    /// A transaction: the price, the period, and all that only some transactions state.
    func sale(_ compact: String) throws -> String {
        guard case .transaction(let payload) = try verify(compact) else { throw TestGardenError.notTransaction }
        let facts = payload.facts
        var words: [String?] = [payload.transactionId, payload.productId]
        if let seats = facts.seats {
            words += ["\(payload.quantity) seats", Self.words(seats)]
        } else if payload.quantity != 1 {
            words.append("quantity \(payload.quantity)")
        }
        words += [
            facts.integer(.price).map { String($0) }, facts.text(.currency), "from", payload.purchaseDate.rfc3339,
        ]
        if let end = facts.date(.expiresDate) { words += ["until", end.rfc3339] }
        words += [
            facts.text(.transactionReason), facts.text(.additionalTransactionReason), facts.text(.billingPlanType),
        ]
        if let commitment = try Self.object(facts.text(.commitmentInfo)) {
            words += [
                Self.number(commitment["billingPeriodNumber"]), "of", Self.number(commitment["totalBillingPeriods"]),
                "until", Self.date(commitment["commitmentExpiresDate"]), Self.number(commitment["commitmentPrice"]),
            ]
        }
        words += Self.offer(
            facts.integer(.offerType), facts.text(.offerIdentifier), facts.text(.offerDiscountType),
            facts.text(.offerPeriod))
        if let seats = try Self.object(facts.text(.multiSeatInfo)) {
            words.append(seats["invitationManagement"]?.text)
            if let revoked = seats["revokedSeatQuantity"] { words += [Self.number(revoked), "seats revoked"] }
        }
        if let ownership = facts.text(.inAppOwnershipType), ownership != InAppOwnershipType.purchased.rawValue {
            words.append(ownership)
        }
        if facts.bool(.isUpgraded) == true { words.append("upgraded") }
        if let date = payload.revocationDate {
            words += ["revoked", date.rfc3339, facts.text(.revocationType)]
            words.append(payload.revocationReason.map { "reason \($0)" })
        }
        return words.compactMap(\.self).joined(separator: " ")
    }

    /// The renewal of a subscription with a status, and that of its commitment.
    func renewal(_ compact: String, status: Int64) throws -> String {
        guard case .renewalInfo(let payload) = try verify(compact) else { throw TestGardenError.notRenewalInfo }
        let facts = payload.facts
        var words: [String?] = [
            "status \(status)", facts.integer(.autoRenewStatus) == 1 ? "renews" : "ends",
            facts.text(.autoRenewProductId), facts.text(.renewalBillingPlanType), facts.date(.renewalDate)?.rfc3339,
        ]
        if let seats = facts.seats {
            words += [facts.integer(.renewalQuantity).map { "\($0) seats" }, Self.words(seats)]
        }
        words += [facts.integer(.renewalPrice).map { String($0) }, facts.text(.currency)]
        words += Self.offer(
            facts.integer(.offerType), facts.text(.offerIdentifier), facts.text(.offerDiscountType),
            facts.text(.offerPeriod))
        if let isRetried = facts.bool(.isInBillingRetryPeriod) { words.append(isRetried ? "retried" : "not retried") }
        if let date = facts.date(.gracePeriodExpiresDate) { words += ["grace until", date.rfc3339] }
        if let intent = facts.integer(.expirationIntent) { words.append("intent \(intent)") }
        if let status = facts.integer(.priceIncreaseStatus) { words.append("price increase \(status)") }
        if let offers = facts.text(.eligibleWinBackOfferIds) { words += ["win-back", offers] }
        words += ["since", facts.date(.recentSubscriptionStartDate)?.rfc3339]
        if let commitment = try Self.object(facts.text(.commitmentInfo)) {
            words += [
                "| commitment", Self.number(commitment["commitmentAutoRenewStatus"]) == "1" ? "renews" : "ends",
                commitment["commitmentAutoRenewProductId"]?.text, commitment["commitmentRenewalBillingPlanType"]?.text,
                Self.date(commitment["commitmentRenewalDate"]), Self.number(commitment["commitmentRenewalPrice"]),
            ]
        }
        return words.compactMap(\.self).joined(separator: " ")
    }

    private func verify(_ compact: String) throws -> VerifiedProof.Content {
        try verifier.verify(Array(compact.utf8), expecting: ProofExpectations()).content
    }

    private static func words(_ seats: [MultiSeatPriceTier]) -> String {
        "(" + seats.map { "\($0.quantity) × \($0.price)" }.joined(separator: ", ") + ")"
    }

    private static func offer(_ type: Int64?, _ identifier: String?, _ discount: String?, _ period: String?)
        -> [String?]
    {
        type.map { ["offer \($0)", identifier, discount, period] } ?? []
    }

    private static func object(_ text: String?) throws -> JSONContent? {
        try text.map { try JSONDecoder().decode(JSONContent.self, from: Data($0.utf8)) }
    }

    private static func number(_ content: JSONContent?) -> String? {
        if case .integer(let number)? = content { String(number) } else { nil }
    }

    private static func date(_ content: JSONContent?) -> String? {
        if case .integer(let number)? = content { Timestamp(millisecondsSince1970: number).rfc3339 } else { nil }
    }
}

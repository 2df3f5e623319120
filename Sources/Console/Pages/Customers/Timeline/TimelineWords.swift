import Features
import Ledger
import Proofs

/// An event of the audit log in both languages.
struct TimelineWords {
    let entry: AuditEntry
    /// The user's transaction that the event is about; nil if it is not known.
    let transaction: RedeemedTransaction?
    let names: CatalogNames

    /// The event with its product, item or balance.
    var title: Phrase {
        switch entry.event {
        case .granted: granted
        case .revoked:
            isOfTeam ? about(Phrase("Revoked by the team", context: "event")) : about("Refunded or revoked by Apple")
        case .productChanged: about("Replaced by another product")
        case .refused: about("Refused")
        case .transferredIn: about("Came from another user")
        case .transferredOut: about("Went to another user")
        case .itemGiven: about("Item given by the team")
        case .itemTakenBack: about("Given item revoked by the team")
        case .assigned: about("Unclaimed purchase assigned")
        case .credited: about("Added to the balance")
        case .spent: about("Spent")
        case .expired: about("Expired")
        case .renewalFailed: about("Renewal not charged, Apple retries")
        case .gracePeriodBegan: about("Renewal not charged, grace period")
        case .autoRenewDisabled: about("Renewal turned off")
        case .autoRenewEnabled: about("Renewal turned on")
        case .aliased: "Anonymous customer logged in"
        case .erased: "Erased"
        }
    }

    /// The price that the customer paid; nil if the App Store has stated none.
    var price: Price? {
        guard [.granted, .revoked].contains(entry.event), !isOfTeam else { return nil }
        return transaction?.paidPrice
    }

    /// The reason in words. The reason of a refusal is in its cause.
    var reason: Phrase? {
        guard entry.event != .refused, let reason = entry.reason else { return nil }
        if entry.event == .expired, let known = ExpirationReason(rawValue: reason) {
            return CustomerWords.reason(known)
        }
        return entry.event == .productChanged ? names.product(reason) : Phrase(same: reason)
    }

    /// True if the team has changed the purchase, and has not redeemed it for the user.
    private var isOfTeam: Bool {
        switch entry.actor {
        case .apiKey, .member: entry.event != .granted || isLater
        case .user, .appStore, .till: false
        }
    }

    /// True if the event is later than the redemption of its transaction.
    private var isLater: Bool { transaction.map { $0.redeemedAt < entry.happenedAt } ?? false }

    private var granted: Phrase {
        if isOfTeam { return about("Reinstated by the team") }
        if isLater { return about("Refund reversed by Apple") }
        guard let transaction else { return about("Purchase") }
        let terms = PurchasePeriod.Terms(transaction.facts)
        let isFollowing = !transaction.transactionIdentifier.hasSameBytes(as: transaction.originalTransactionIdentifier)
        if isFollowing, transaction.expiresAt == nil { return about("Bought again, for free") }
        let isPurchase = transaction.facts.text(.transactionReason) == TransactionReason.purchase.rawValue
        if isFollowing, isPurchase, terms.isAdditional { return about("Seats added") }
        if isFollowing { return about("Renewal") }
        switch terms.ownership {
        case .familyShared: return about("Shared by the family")
        case .assigned: return about("Seat assigned")
        case .purchased, nil:
            return terms.isTrial ? about("Free trial") : about("Purchase")
        }
    }

    /// The event and its subject, which is a product, an item or an amount.
    private func about(_ event: Phrase) -> Phrase {
        let isItem = [.itemGiven, .itemTakenBack].contains(entry.event)
        let item = isItem ? Item(typed: entry.subject) : nil
        let name = item.map { names.item($0) } ?? names.product(entry.subject)
        return "\(event): \(CustomerWords.isolated(name))"
    }
}

/// The cause and the remedy of a refusal.
struct RefusalNote {
    let code: String?
    /// The owner of the purchase; nil if there is none, or if it is the same user.
    let otherOwner: User?

    @HTMLBuilder var html: HTML {
        if let words = code.flatMap({ RefusalExplanation(code: $0) }) {
            div { words.cause }
            div { words.remedy }
        } else if let code {
            div { Console.code { plain(code) } }
        }
        if let otherOwner {
            div {
                "Owner"; plain(": ")
                Shown.link(to: otherOwner)
            }
        }
    }
}

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
        case .revoked: isOfTeam ? about("Revoked by the team", "팀이 회수") : about(refund.english, refund.korean)
        case .productChanged: about("Replaced by another product", "다른 상품으로 변경")
        case .refused: about("Refused", "거절")
        case .transferredIn: about("Came from another user", "다른 사용자에게서 옴")
        case .transferredOut: about("Went to another user", "다른 사용자에게 감")
        case .itemGiven: about("Item given by the team", "팀이 아이템 지급")
        case .itemTakenBack: about("Given item revoked by the team", "팀이 지급한 아이템 회수")
        case .assigned: about("Unclaimed purchase assigned", "주인 없는 구매 배정")
        case .credited: about("Added to the balance", "잔액에 더함")
        case .spent: about("Spent", "사용")
        case .expired: about("Expired", "만료")
        case .renewalFailed: about("Renewal not charged, Apple retries", "갱신 결제 실패, Apple이 다시 시도")
        case .gracePeriodBegan: about("Renewal not charged, grace period", "갱신 결제 실패, 유예 기간 시작")
        case .autoRenewDisabled: about("Renewal turned off", "갱신 끔")
        case .autoRenewEnabled: about("Renewal turned on", "갱신 켬")
        case .aliased: Phrase("Anonymous customer logged in", "익명 고객이 로그인함")
        case .erased: Phrase("Erased", "삭제됨")
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
        if isOfTeam { return about("Reinstated by the team", "팀이 회수를 취소") }
        if isLater { return about("Refund reversed by Apple", "Apple이 환불을 취소") }
        guard let transaction else { return about("Purchase", "구매") }
        let terms = PurchasePeriod.Terms(transaction.facts)
        let isFollowing = !transaction.transactionIdentifier.hasSameBytes(as: transaction.originalTransactionIdentifier)
        if isFollowing, transaction.expiresAt == nil { return about("Bought again, for free", "다시 무료로 받음") }
        let isPurchase = transaction.facts.text(.transactionReason) == TransactionReason.purchase.rawValue
        if isFollowing, isPurchase, terms.isAdditional { return about("Seats added", "좌석 추가") }
        if isFollowing { return about("Renewal", "갱신") }
        switch terms.ownership {
        case .familyShared: return about("Shared by the family", "가족이 공유함")
        case .assigned: return about("Seat assigned", "좌석 배정")
        case .purchased, nil:
            return terms.isTrial ? about("Free trial", "무료 체험") : about("Purchase", "구매")
        }
    }

    private var refund: Phrase {
        Phrase("Refunded or revoked by Apple", "Apple이 환불 또는 회수")
    }

    /// The event and its subject, which is a product, an item or an amount.
    private func about(_ english: String, _ korean: String) -> Phrase {
        let isItem = [.itemGiven, .itemTakenBack].contains(entry.event)
        let item = isItem ? Item(typed: entry.subject) : nil
        let name = item.map { names.item($0) } ?? names.product(entry.subject)
        return Phrase(
            "\(english): \(CustomerWords.isolated(name.english))", "\(korean): \(CustomerWords.isolated(name.korean))")
    }
}

/// The cause and the remedy of a refusal.
struct RefusalNote {
    let code: String?
    /// The owner of the purchase; nil if there is none, or if it is the same user.
    let otherOwner: User?

    var html: HTML {
        HTML {
            if let words = code.flatMap({ RefusalExplanation(code: $0) }) {
                div { words.cause }
                div { words.remedy }
            } else if let code {
                div { Console.code { plain(code) } }
            }
            if let otherOwner {
                div {
                    Phrase("Owner", "가진 사용자"); plain(": ")
                    Shown.link(to: otherOwner)
                }
            }
        }
    }
}

import Features
import Proofs

/// The words for products, in each language.
enum ProductWords {
    /// The benefit of a product, as a sentence without a full stop.
    static func sentence(of benefit: Benefit) -> Phrase {
        switch benefit {
        case .item(let item): Phrase("\(item) for good", "\(item) 영구 소유")
        case .itemFor(let item, let period):
            Phrase(
                "\(item) for \(period.words().english) from the purchase",
                "구매일부터 \(period.words().korean) 동안 \(item)")
        case .itemWhilePaid(let item): Phrase("\(item) while it is paid", "구독료가 결제되는 동안 \(item)")
        case .credit(let credit):
            Phrase(
                "\(Shown.digits(Int64(credit.amount))) of the balance \(credit.balance)",
                "잔액 \(credit.balance) \(Shown.digits(Int64(credit.amount))) 추가")
        }
    }

    /// The price and length of an offer.
    static func terms(of offer: SubscriptionOffer) -> Phrase {
        let price = offer.price?.formatted ?? ""
        let (each, total) = (offer.period.words(), offer.period.words(times: offer.periodCount))
        return switch offer.paymentMode {
        case .freeTrial: Phrase("free for \(total.english)", "\(total.korean) 무료")
        case .payAsYouGo:
            Phrase(
                "\(price) each \(each.english), for \(total.english)", "\(total.korean) 동안 \(each.korean)마다 \(price)")
        case .payUpFront: Phrase("\(price) once, for \(total.english)", "\(total.korean)에 \(price) 선결제")
        }
    }

    static func title(of customers: SubscriptionOffer.Eligibility) -> Phrase {
        switch customers {
        case .new: Phrase("new", "신규")
        case .existing: Phrase("existing", "기존")
        case .expired: Phrase("expired", "만료")
        }
    }

    static func title(of kind: CatalogChange.Kind) -> Phrase {
        switch kind {
        case .defined: Phrase("Defined", "정의")
        case .reverted: Phrase("Reverted to the files", "파일의 정의로 복원")
        case .withdrawn: Phrase("Withdrawn from sale", "판매 중단")
        case .restored: Phrase("Returned to sale", "판매 재개")
        case .pictured: Phrase("New picture", "새 그림")
        }
    }
}

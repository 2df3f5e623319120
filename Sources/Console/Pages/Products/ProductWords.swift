import CatalogAdministration
import Commerce

/// The words for products, in each language.
enum ProductWords {
    static func title(of type: ProductType) -> Phrase {
        switch type {
        case .consumable: Phrase("Consumable", "소모품")
        case .nonConsumable: Phrase("Non-consumable", "비소모품")
        case .nonRenewingSubscription: Phrase("Non-renewing subscription", "비갱신 구독")
        case .autoRenewableSubscription: Phrase("Auto-renewable subscription", "자동 갱신 구독")
        }
    }

    /// A period, such as "1 month".
    static func length(_ period: SubscriptionPeriod, times count: Int = 1) -> Phrase {
        let value = period.value * count
        let plural = value == 1 ? "" : "s"
        return switch period.unit {
        case .day: Phrase("\(value) day\(plural)", "\(value)일")
        case .week: Phrase("\(value) week\(plural)", "\(value)주")
        case .month: Phrase("\(value) month\(plural)", "\(value)개월")
        case .year: Phrase("\(value) year\(plural)", "\(value)년")
        }
    }

    /// The benefit of a product, as a sentence without a full stop.
    static func sentence(of benefit: Benefit) -> Phrase {
        switch benefit {
        case .item(let item): Phrase("\(item) for good", "\(item) 영구 소유")
        case .itemFor(let item, let period):
            Phrase(
                "\(item) for \(length(period).english) from the purchase",
                "구매일부터 \(length(period).korean) 동안 \(item)")
        case .itemWhilePaid(let item): Phrase("\(item) while it is paid", "구독료가 결제되는 동안 \(item)")
        case .credit(let credit):
            Phrase(
                "\(Shown.digits(Int64(credit.amount))) of the balance \(credit.balance)",
                "잔액 \(credit.balance) \(Shown.digits(Int64(credit.amount))) 추가")
        }
    }

    static func title(of kind: SubscriptionOffer.Kind) -> Phrase {
        switch kind {
        case .introductory: Phrase("Introductory offer", "신규 특가")
        case .promotional: Phrase("Promotional offer", "프로모션 제안")
        case .offerCode: Phrase("Offer code", "제안 코드")
        case .winBack: Phrase("Win-back offer", "재구독 제안")
        }
    }

    /// The price and length of an offer.
    static func terms(of offer: SubscriptionOffer) -> Phrase {
        let price = offer.price?.formatted ?? ""
        let (each, total) = (length(offer.period), length(offer.period, times: offer.periodCount))
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

import Proofs

/// An offer in words: kind, name, length and price.
struct StoreOfferText {
    let offer: SubscriptionOffer

    var html: HTML {
        HTML {
            offer.kind.title
            if let identifier = offer.identifier {
                plain(" ")
                Shown.identifier(identifier)
            }
            plain(": ")
            offer.period.words(times: offer.periodCount)
            plain(", ")
            if let price = offer.price { plain(price.formatted + ", ") }
            StoreWords.title(offer.paymentMode)
        }
    }
}

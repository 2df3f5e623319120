import AppStore
import Foundation
import Proofs
import TestSupport

/// The App Store, which charges, fails to charge, and has prices of its own.
extension Simulation {
    /// Renewals are charged from now on or are not, with a grace period or without one, and in which currency.
    func changeSettings() throws {
        let (fails, hasGrace) = (dice.happens(40), dice.happens(60))
        let storefront = dice.happens(50) ? "USA" : "DEU"
        _ = try someApp().store.update {
            $0.shouldEnterBillingRetryOnRenewal = fails
            $0.isBillingGracePeriodEnabled = hasGrace
            $0.storefront = storefront
        }
    }

    /// By some days: a month stays the shortest length that the figures take it for.
    func extendRenewalDate(of sale: SimulatedSale) throws {
        let body = #"{"extendByDays":\(1 + dice.number(below: 5)),"extendReasonCode":1,"requestIdentifier":"r"}"#
        let request = try JSONDecoder().decode(ExtendRenewalDateRequest.self, from: Data(body.utf8))
        _ = try sale.app.store.writeOrThrow {
            try $0.extendSubscriptionRenewalDate(sale.originalTransactionIdentifier, request)
        }
    }

    /// The customer consents, declines, or does not respond.
    func raisePrice(of sale: SimulatedSale) throws {
        let (store, transaction) = (sale.app.store, sale.transactionIdentifier)
        let price = 1_000 * Int64(11 + dice.number(below: 100))
        try store.requestPriceIncrease(of: transaction, to: price, needsConsent: dice.happens(70))
        // Of two statements of one moment, either may count.
        try advance(seconds: 2)
        switch dice.number(below: 3) {
        case 0: try store.consentToPriceIncrease(of: transaction)
        case 1: try store.declinePriceIncrease(of: transaction)
        default: break
        }
    }
}

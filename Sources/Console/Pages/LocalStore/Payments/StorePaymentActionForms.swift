import AppStore
import Proofs

/// The buttons for the actions on a payment.
struct StorePaymentActionForms {
    let context: ConsoleContext
    let payment: PaymentTransaction
    let isInterrupted: Bool

    var buttons: HTML {
        div(.class("actions")) {
            for action in StorePaymentAction.allCases where action.isPossible(payment, isInterrupted: isInterrupted) {
                context.form(to: .storePayment(payment.identifier, action.rawValue)) {
                    button(action == .approve || action == .resolve ? .class("primary") : nil) {
                        action.title
                        span(.class("hidden")) { plain(" \(payment.identifier)") }
                    }
                }
            }
        }
    }
}

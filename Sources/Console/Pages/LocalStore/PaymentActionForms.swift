import Commerce
import Store

/// An action on a payment of the queue. The raw value is the last segment of its address.
enum PaymentAction: String, CaseIterable, Sendable {
    case approve
    case decline
    case resolve
    case finish

    var title: Phrase {
        switch self {
        case .approve: Phrase("Approve", "승인")
        case .decline: Phrase("Decline", "거절")
        case .resolve: Phrase("Resolve the issue", "문제 해결")
        case .finish: Phrase("Finish", "완료")
        }
    }

    var notice: Notice {
        switch self {
        case .approve: .approved
        case .decline: .declined
        case .resolve: .bought
        case .finish: .performed
        }
    }

    func isPossible(_ shown: ShownPayment) -> Bool {
        let state = shown.queued.transaction.state
        return switch self {
        case .approve, .decline: state == .deferred
        case .resolve: shown.isInterrupted
        case .finish: state.isAwaitingFinish
        }
    }
}

/// The buttons for the actions on a payment.
struct PaymentActionForms {
    let context: ConsoleContext
    let shown: ShownPayment

    var buttons: HTML {
        let identifier = shown.queued.transaction.identifier
        return div(.class("actions")) {
            for action in PaymentAction.allCases where action.isPossible(shown) {
                context.form(to: .storePayment(identifier, action.rawValue)) {
                    button(action == .approve || action == .resolve ? .class("primary") : nil) { action.title }
                }
            }
        }
    }
}

import Commerce
import Testing

@Suite struct PaymentTransactionStateTests {
    typealias State = PaymentTransactionState
    typealias Event = PaymentTransactionEvent

    struct Transition: Hashable {
        let state: State
        let event: Event
    }

    /// Every legal step; whatever is not here is illegal.
    static let legal: [Transition: State] = [
        Transition(state: .purchasing, event: .purchase): .purchased,
        Transition(state: .purchasing, event: .fail): .failed,
        Transition(state: .purchasing, event: .awaitApproval): .deferred,
        Transition(state: .deferred, event: .approve): .purchased,
        Transition(state: .deferred, event: .decline): .failed,
        Transition(state: .purchased, event: .finish): .finished,
        Transition(state: .failed, event: .finish): .finished,
        Transition(state: .restored, event: .finish): .finished,
    ]

    @Test(arguments: State.allCases, Event.allCases)
    func eachEventInEachState(state: State, event: Event) throws {
        if let next = Self.legal[Transition(state: state, event: event)] {
            #expect(try state.after(event) == next)
        } else {
            #expect(throws: IllegalPaymentTransition(state: state, event: event)) { try state.after(event) }
        }
    }

    @Test func onlyWhatTheAppIsShownAwaitsItsFinish() {
        #expect(Set(State.allCases.filter(\.isAwaitingFinish)) == [.purchased, .failed, .restored])
    }
}

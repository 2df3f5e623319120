import HTTPSupport
import Proofs
import Testing

@Suite struct PaymentTransactionStateTests {
    typealias State = PaymentTransactionState
    typealias Event = PaymentTransactionEvent

    struct Transition: Hashable {
        let state: State
        let event: Event
    }

    /// Every legal transition. All others are illegal.
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
    func `an event leads to its legal state or is refused`(state: State, event: Event) throws {
        if let next = Self.legal[Transition(state: state, event: event)] {
            #expect(try state.after(event) == next)
        } else {
            #expect(throws: IllegalPaymentTransition(state: state, event: event)) { try state.after(event) }
        }
    }

    @Test func `only purchased, failed and restored transactions await their finish`() {
        #expect(Set(State.allCases.filter(\.isAwaitingFinish)) == [.purchased, .failed, .restored])
    }
}

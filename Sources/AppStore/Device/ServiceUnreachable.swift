import Proofs

/// A request without a usable answer of the service. The request may have arrived.
package struct ServiceUnreachable: CodedError, Equatable {
    package let reason: String

    package init(reason: String) {
        self.reason = reason
    }

    package var code: String { "serviceUnreachable" }

    package var message: String {
        "The service gave no usable answer: \(reason). Nothing is lost. Try again."
    }
}

import Proofs

/// A refusal by the service.
package struct ServiceRefusal: CodedError, Hashable {
    package let code: String
    package let message: String

    package init(code: String, message: String) {
        self.code = code
        self.message = message
    }
}

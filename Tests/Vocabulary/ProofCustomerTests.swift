import Proofs
import Testing
import Vocabulary

/// The customers whom only proofs identify.
@Suite struct ProofCustomerTests {
    @Test func `a customer of proofs is anonymous, and no id of an app`() throws {
        let user = try #require(User(proofCustomer: "0123456789abcdef"))
        #expect(user.isProofCustomer && user.isAnonymousCustomer)
        #expect(CustomerIdentifier(user) == nil)
        let presented = try #require(CustomerIdentifier(user.name)).user
        #expect(presented != user && !presented.isProofCustomer && !presented.isAnonymousCustomer)
    }

    @Test func `no other issuer has such customers`() throws {
        #expect(try #require(User(name: "%proof:0123456789abcdef")).isProofCustomer == false)
        #expect(User(proofCustomer: String(repeating: "0", count: User.maximumCustomerLength)) == nil)
    }
}

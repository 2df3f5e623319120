import AppStore
import HTTPSupport
import HTTPTypes
import NIOCore
import Proofs
import TestSupport
import Testing

/// The customers' apps, and the back end of the team.
extension Year {
    /// Buys at the store. The app presents what was bought, that of a stranger never.
    func buy(
        _ product: String,
        quantity: Int,
        offer: Payment.OfferChoice?,
        billed plan: BillingPlanType?,
        for customer: String
    ) throws {
        _ = try store.add(
            Payment(productIdentifier: product, quantity: quantity, billingPlanType: plan, offer: offer),
            account: customer)
        let bought = try #require(try store.process(account: customer).first)
        #expect(bought.state == .purchased, "\(customer) buys \(product)")
    }

    /// Has the apps present what their payment queues have got, such as a purchase that a family shares: today, or some days later where
    /// deliveries are disturbed.
    func presentWhatIsQueued() throws {
        for queued in try store.transactions() where queued.account != YearScript.stranger {
            let transaction = queued.transaction
            guard transaction.state == .purchased,
                !unpresented.contains(where: { $0.identifier == transaction.identifier })
            else { continue }
            unpresented.append((day + (dice?.number(below: 4) ?? 0), transaction.identifier, queued.account))
        }
    }

    func presentWhatIsDue() async throws {
        let due = unpresented.filter { $0.day <= day }
        unpresented.removeAll { $0.day <= day }
        for (_, identifier, customer) in due {
            let redeemed = try await present(try store.signedTransaction(identifier), for: customer)
            #expect(redeemed.status == 200, "\(customer) presents \(identifier)")
            _ = try store.finish(identifier, account: customer)
        }
    }

    /// Presents what another customer has bought.
    func presentInVain(_ transaction: String, for customer: String) async throws {
        let proof = try store.signedTransaction(of: transaction)
        let refused = try await present(proof, for: customer)
        #expect(refused.status == 409)
    }

    private func present(_ proof: String, for customer: String) async throws -> ServiceFixture.Answer {
        try await exchange(
            .post, "/v1/users/\(customer)/transactions", body: #"{"signedTransaction":"\#(proof)"}"#)
    }

    /// Sends a request of the back end over the connection, and expects an answer.
    @discardableResult
    func send(
        _ method: HTTPRequest.Method,
        _ path: String,
        body: String? = nil,
        idempotencyKey: String? = nil,
        expecting status: Int = 200
    ) async throws -> ServiceFixture.Answer {
        let answer = try await exchange(method, path, body: body, idempotencyKey: idempotencyKey)
        #expect(answer.status == status, "\(method) \(path): \(String(decoding: answer.body, as: UTF8.self))")
        return answer
    }

    private func exchange(
        _ method: HTTPRequest.Method,
        _ path: String,
        body: String? = nil,
        idempotencyKey: String? = nil
    ) async throws -> ServiceFixture.Answer {
        var headers: HTTPFields = [.authorization: "Bearer \(fixture.key)"]
        if let idempotencyKey, let name = HTTPField.Name("Idempotency-Key") { headers[name] = idempotencyKey }
        let response = try await client.executeRequest(
            uri: path, method: method, headers: headers, body: body.map { ByteBuffer(string: $0) })
        return ServiceFixture.Answer(
            status: response.status.code, headers: response.headers,
            body: .init(response.body.readableBytesView))
    }
}

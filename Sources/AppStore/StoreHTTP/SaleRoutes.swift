import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs

/// The actions on one sale, or on its subscription, identified by the transaction identifier.
struct SaleRoutes: Sendable {
    let store: Store

    func add(to group: RouterGroup<ServiceContext>) {
        addRefunds(to: group)
        addSubscriptions(to: group)
        group.get("consumption") { _, context in
            let id = try context.parameters.text("transaction")
            let text = try await BlockingWork.run { try store.consumption(of: id) }
            return JSONAnswer.response(bytes: Array((text ?? "null").utf8))
        }
        group.delete { _, context in
            let id = try context.parameters.text("transaction")
            try await BlockingWork.run { try store.delete(id) }
            return HTTPResponse.Status.noContent
        }
        post("share", to: group, SharingRequest.self) { id, body in
            _ = try store.share(id, with: body.account)
        }
    }

    private func addRefunds(to group: RouterGroup<ServiceContext>) {
        post("refundRequest", to: group, RefundRequest.self) { id, body in
            try store.requestRefund(of: id, reason: try body.requestReason())
        }
        post("refund", to: group, RefundRequest.self) { id, body in
            try store.refund(id, reason: try body.revocationReason())
        }
        post("refundDecline", to: group) { try store.declineRefund(of: $0) }
        post("refundReversal", to: group) { try store.reverseRefund(of: $0) }
        post("familyRevocation", to: group) { try store.revokeFamilySharing(of: $0) }
    }

    private func addSubscriptions(to group: RouterGroup<ServiceContext>) {
        post("renewal", to: group) { try store.forceRenewal(of: $0) }
        post("expiry", to: group) { try store.expire($0) }
        post("cancellation", to: group) { try store.setAutoRenew(false, of: $0) }
        post("resumption", to: group) { try store.setAutoRenew(true, of: $0) }
        post("billingResolution", to: group) { try store.resolveBillingIssue(of: $0) }
        post("priceIncrease", to: group, PriceIncreaseRequest.self) { id, body in
            try store.requestPriceIncrease(of: id, to: body.price, needsConsent: body.needsConsent ?? true)
        }
        post("priceConsent", to: group) { try store.consentToPriceIncrease(of: $0) }
        post("priceRefusal", to: group) { try store.declinePriceIncrease(of: $0) }
    }

    private func post(
        _ path: String,
        to group: RouterGroup<ServiceContext>,
        _ body: @Sendable @escaping (String) throws -> Void
    ) {
        group.post(RouterPath(path)) { _, context in
            let id = try context.parameters.text("transaction")
            return try await sale(id) { try body(id) }
        }
    }

    private func post<Body: SandboxRequest & Sendable>(
        _ path: String,
        to group: RouterGroup<ServiceContext>,
        _ type: Body.Type,
        _ body: @Sendable @escaping (String, Body) throws -> Void
    ) {
        group.post(RouterPath(path)) { request, context in
            let id = try context.parameters.text("transaction")
            let decoded = try await SandboxBody.decode(request, context, as: type)
            return try await sale(id) { try body(id, decoded) }
        }
    }

    /// Answers with the sale after the action.
    private func sale(_ id: String, after body: @Sendable @escaping () throws -> Void) async throws -> Response {
        let resource = try await BlockingWork.run {
            try body()
            return SaleResource(try store.sale(id))
        }
        return try JSONAnswer.response(resource)
    }
}

import HTTPSupport
import HTTPTypes
import Hummingbird

/// The answer to receipts while the door is closed.
///
/// With the status 404 an SDK would finish the transaction, and the purchase would be lost.
struct ClosedRevenueCatRoute: RouteSource {
    func add(to router: Router<ServiceContext>) {
        router.on(RouterPath(RevenueCatEndpoint.receipts.path), method: .post) { _, _ -> Response in
            throw Problem(
                status: .serviceUnavailable, code: "doorClosed",
                detail: "The door for RevenueCat's SDKs is closed. Start the service with --doors revenuecat.")
        }
    }
}

import Features
import HTTPSupport

extension EntitlementService {
    /// The service as far as the caller of a request sees and changes it.
    func limited(to context: ServiceContext) -> EntitlementService { limited(to: context.caller?.limitingApp) }
}

import HTTPSupport
import Hummingbird

extension ServerAPIRoutes {
    func addMessaging(to group: RouterGroup<ServiceContext>) {
        addImagesAndMessages(to: group)
        group.put("default/:product/:locale") { request, context in
            let (product, locale) = try Self.defaultMessage(context)
            let body = try await Self.body(request, context, as: DefaultConfigurationRequest.self)
            return try await done { try api.configureDefaultMessage(product, locale, body) }
        }
        group.get("default/:product/:locale") { _, context in
            let (product, locale) = try Self.defaultMessage(context)
            return try await answer { try api.defaultMessage(product, locale) }
        }
        group.delete("default/:product/:locale") { _, context in
            let (product, locale) = try Self.defaultMessage(context)
            return try await done { try api.deleteDefaultMessage(product, locale) }
        }
        group.put("realtime/url") { request, context in
            let body = try await Self.body(request, context, as: RealtimeUrlRequest.self)
            return try await done { try api.configureRealtimeURL(body) }
        }
        group.get("realtime/url") { _, _ in try await answer { try api.realtimeURL() } }
        group.delete("realtime/url") { _, _ in try await done { try api.deleteRealtimeURL() } }
        group.post("performanceTest") { request, context in
            let body = try await Self.body(request, context, as: PerformanceTestRequest.self)
            return try await answer { try api.initiatePerformanceTest(body) }
        }
        group.get("performanceTest/result/:request") { _, context in
            let identifier = try context.parameters.text("request")
            return try await answer { try api.performanceTestResults(identifier) }
        }
    }

    private func addImagesAndMessages(to group: RouterGroup<ServiceContext>) {
        group.get("image/list") { _, _ in try await answer { try api.imageList() } }
        group.put("image/:id") { request, context in
            let id = try context.parameters.text("id")
            let size = request.parameter("imageSize")
            let png = try await Self.bytes(request, context)
            return try await done { try api.uploadImage(id, png, size: size) }
        }
        group.delete("image/:id") { _, context in
            let id = try context.parameters.text("id")
            return try await done { try api.deleteImage(id) }
        }
        group.get("message/list") { _, _ in try await answer { try api.messageList() } }
        group.put("message/:id") { request, context in
            let id = try context.parameters.text("id")
            let body = try await Self.body(request, context, as: UploadMessageRequestBody.self)
            return try await done { try api.uploadMessage(id, body) }
        }
        group.delete("message/:id") { _, context in
            let id = try context.parameters.text("id")
            return try await done { try api.deleteMessage(id) }
        }
    }

    private static func defaultMessage(_ context: ServiceContext) throws -> (product: String, locale: String) {
        (try context.parameters.text("product"), try context.parameters.text("locale"))
    }
}

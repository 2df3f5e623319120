import Catalog
import Foundation

public struct UploadMessageRequestBody: Codable, Sendable {
    struct Image: Codable {
        let imageIdentifier: UUID
        let altText: String
    }

    struct BulletPoint: Codable {
        let text: String
        let imageIdentifier: UUID
        let altText: String
    }

    let header: String
    let body: String
    let image: Image?
    let headerPosition: String?
    let bulletPoints: [BulletPoint]?

    /// The images of the message, each with the size that it must have.
    var images: [(identifier: UUID, size: ImageSize)] {
        (image.map { [($0.imageIdentifier, .fullSize)] } ?? [])
            + (bulletPoints ?? []).map { ($0.imageIdentifier, .bulletPoint) }
    }
}

/// The size of an image (Retention Messaging API, `imageSize`).
enum ImageSize: String {
    case fullSize = "FULL_SIZE"
    case bulletPoint = "BULLET_POINT"

    /// True if the bytes are a PNG of the width and height that Apple asks for, as far as its head shows.
    func includes(_ png: [UInt8]) -> Bool {
        guard let size = PictureSize(png: png) else { return false }
        return switch self {
        case .fullSize: size.width == 3840 && (160...2160).contains(size.height)
        case .bulletPoint: size.width == 1024 && size.height == 1024
        }
    }
}

public struct GetImageListResponse: Encodable, Sendable {
    public struct Item: Encodable, Sendable {
        public let imageIdentifier: String
        public let imageState: String
        public let imageSize: String
    }

    public let imageIdentifiers: [Item]
}

public struct GetMessageListResponse: Encodable, Sendable {
    public struct Item: Encodable, Sendable {
        public let messageIdentifier: String
        public let messageState: String
    }

    public let messageIdentifiers: [Item]
}

public struct DefaultConfigurationRequest: Decodable, Sendable {
    let messageIdentifier: String?
}

public struct DefaultConfigurationResponse: Encodable, Sendable {
    public let messageIdentifier: String
}

public struct RealtimeUrlRequest: Decodable, Sendable {
    let realtimeURL: String?
}

public struct RealtimeUrlResponse: Encodable, Sendable {
    public let realtimeURL: String
}

public struct PerformanceTestRequest: Decodable, Sendable {
    let originalTransactionId: String?
}

public struct PerformanceTestConfig: Encodable, Sendable {
    public let maxConcurrentRequests = 10
    public let totalRequests = 100
    /// In milliseconds, like the response times.
    public let totalDuration = 60_000
    public let responseTimeThreshold = 700
    /// In percent.
    public let successRateThreshold = 98
}

public struct PerformanceTestResponse: Encodable, Sendable {
    public let config = PerformanceTestConfig()
    public let requestId: String
}

/// The result of a performance test. It is complete at once: the store sends nothing, so nothing takes time or fails.
public struct PerformanceTestResultResponse: Encodable, Sendable {
    public struct ResponseTimes: Encodable, Sendable {
        public let average = 0
        public let p50 = 0
        public let p90 = 0
        public let p95 = 0
        public let p99 = 0
    }

    public let config = PerformanceTestConfig()
    public let target: String
    public let result = "PASS"
    public let successRate = 100
    public let numPending = 0
    public let responseTimes = ResponseTimes()
    public let failures: [String: Int] = [:]
}

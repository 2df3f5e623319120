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

    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// True if the bytes are a PNG, as far as its header shows (PNG section 11.2.1). A full-size image has Apple's dimensions.
    func includes(_ png: [UInt8]) -> Bool {
        guard png.starts(with: Self.signature), png.count >= 24, png[12..<16].elementsEqual("IHDR".utf8) else {
            return false
        }
        func number(at index: Int) -> Int { png[index..<index + 4].reduce(0) { $0 << 8 | Int($1) } }
        return self == .bulletPoint || (number(at: 16) == 3840 && (160...2160).contains(number(at: 20)))
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

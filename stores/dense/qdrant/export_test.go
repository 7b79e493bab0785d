package qdrant

import (
	"context"

	"google.golang.org/grpc"
)

// Intercept lets f change each request before it is sent.
func (o *Options) Intercept(f func(req any)) {
	o.dial = append(o.dial, grpc.WithChainUnaryInterceptor(
		func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			f(req)
			return invoke(ctx, method, req, reply, cc, opts...)
		}))
}

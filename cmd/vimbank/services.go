package main

import (
	"github.com/vimbank/vimbank/bank"
	"github.com/vimbank/vimbank/configs"
	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/stores/dense/qdrant"
	"github.com/vimbank/vimbank/stores/ledger/postgres"
	"github.com/vimbank/vimbank/stores/sparse/elastic"
)

// services turns the settings into the services of a bank; nil if it needs none.
func services(c *configs.Config) (*bank.Services, error) {
	var s bank.Services
	var err error
	if c.Ledger.Kind == "postgres" {
		if s.Postgres, err = ledgerService(&c.Ledger); err != nil {
			return nil, err
		}
	}
	if c.Dense.Kind == "qdrant" {
		if s.Qdrant, err = denseService(&c.Dense); err != nil {
			return nil, err
		}
	}
	if c.Sparse.Kind == "elasticsearch" {
		if s.Elastic, err = sparseService(&c.Sparse); err != nil {
			return nil, err
		}
	}
	if s.Postgres == nil && s.Elastic == nil {
		return nil, nil
	}
	s.Pump = engine.Shared{MaxOwed: c.Pump.MaxOwed, Batch: c.Pump.Batch}
	return &s, nil
}

func ledgerService(l *configs.Ledger) (*bank.Postgres, error) {
	url, err := l.Address()
	return &bank.Postgres{URL: url.Reveal(), Options: postgres.Options{
		Schema: l.Schema, MaxConns: l.MaxConns, ConnectTimeout: l.Connect, StatementTimeout: l.Statement, LockTimeout: l.Lock, Pooler: l.Pooler,
	}}, err
}

func denseService(d *configs.Dense) (*qdrant.Options, error) {
	key, err := d.Key()
	o := &qdrant.Options{
		Addr: d.Addr, APIKey: key.Reveal(), Prefix: d.Prefix, Tenancy: qdrant.Tenancy(d.Tenancy), Exact: d.Exact,
		HNSW:         qdrant.HNSW{M: d.HNSW.M, EfConstruct: d.HNSW.EfConstruct, Ef: d.HNSW.Ef},
		Quantization: qdrant.Quantization(d.Quantization), OnDisk: d.OnDisk, Shards: d.Shards, Replicas: d.Replicas,
		WriteConsistency: d.Consistency, Timeout: d.Timeout,
	}
	if d.TLS.On {
		o.TLS = &qdrant.TLS{CAFile: d.TLS.CAFile, ServerName: d.TLS.ServerName}
	}
	return o, err
}

func sparseService(s *configs.Sparse) (*elastic.Options, error) {
	password, key, err := s.Login()
	o := &elastic.Options{
		URLs: s.Addresses(), Username: s.User, Password: password.Reveal(), APIKey: key.Reveal(), CAFile: s.CAFile, CertFingerprint: s.Fingerprint,
		Prefix: s.Prefix, Tenancy: elastic.Tenancy(s.Tenancy), Shards: s.Shards, Replicas: s.Replicas, Timeout: s.Timeout,
	}
	if s.Replicas == 0 {
		o.Replicas = -1 // there zero is its own choice
	}
	if s.Refresh == "immediate" {
		o.Refresh = elastic.Now
	}
	return o, err
}
